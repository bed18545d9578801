#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "link/emulated_worker.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

EmulatedSpeech speech() {
  return {.languages = {50259, 50260}, .words = {{464, 7}, {286}, {290, 257}}, .stop = {13}};
}

}  // namespace

TEST(EmulatedPart, SurvivesTheWayThroughAProgramsArguments) {
  EmulatedPart part;
  part.card.speed = 12.5;
  part.card.memory = {8'000'000'000};
  part.card.slots = 3;
  part.card.jitter = 0.1;
  part.card.warm_up = Seconds(2.5);
  part.card.time = 0.01;
  part.card.seed = 7;
  part.card.born = 123456789;
  part.card.uuid = "GPU-5a";
  part.card.failures.push_back({EmulatedFailure::Kind::hang, Seconds(3), {}});
  part.card.failures.push_back({EmulatedFailure::Kind::lost, Seconds(5), Seconds(2)});
  part.speech = speech();
  part.build_id = "1.0 abc def";
  const auto back = part_of(words_of(part));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, part);
}

TEST(EmulatedPart, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(part_of({"speed=fast"}).error().what, HasSubstr("speed=fast"));
  EXPECT_THAT(part_of({"colour=red"}).error().what, HasSubstr("colour=red"));
  EXPECT_THAT(part_of({"speed=3"}).error().what, HasSubstr("words"));
}

TEST(EmulatedText, IsAFunctionOfTheWindowAlone) {
  const std::vector<float> mel(300, 0.5F), other(300, 0.25F);
  EXPECT_EQ(content_of(mel), content_of(mel));
  EXPECT_NE(content_of(mel), content_of(other));
  const auto text = emulated_text(speech(), content_of(mel), 3000, true, 224);
  EXPECT_EQ(text, emulated_text(speech(), content_of(mel), 3000, true, 224));
  EXPECT_NE(text, emulated_text(speech(), content_of(other), 3000, true, 224));
}

TEST(EmulatedText, TimestampsRiseToTheWindowsEnd) {
  const EmulatedSpeech output = speech();
  std::vector<std::int32_t> times;
  for (const auto token : emulated_text(output, 1, 1000, true, 224))
    if (token >= output.timestamp_begin) times.push_back(token - output.timestamp_begin);
  ASSERT_FALSE(times.empty());
  EXPECT_EQ(times.front(), 0);
  EXPECT_EQ(times.back(), 500);
  EXPECT_TRUE(std::ranges::is_sorted(times));
}

TEST(EmulatedText, KeepsWithinTheTokenLimit) {
  EXPECT_LE(emulated_text(speech(), 1, 3000, true, 50).size(), 50U);
  EXPECT_FALSE(emulated_text(speech(), 1, 3000, false, 50).empty());
}
