#include "link/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "link/message_fields.h"
#include "samples.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

template <class Message>
std::string bytes_of(Message message) {
  return encode_message(message);
}

}  // namespace

TEST(Wire, EveryMessageComesBackAsItWasSent) {
  for (const ToWorker& message : sample_orders()) {
    const auto back = decode_to_worker(encode_message(message));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, message) << name_of(message);
  }
  for (const ToControl& message : sample_reports()) {
    const auto back = decode_to_control(encode_message(message));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, message) << name_of(message);
  }
}

TEST(Wire, TheSamplesHoldOneOfEveryMessage) {
  const auto orders = sample_orders();
  const auto reports = sample_reports();
  ASSERT_EQ(orders.size(), std::variant_size_v<ToWorker>);
  ASSERT_EQ(reports.size(), std::variant_size_v<ToControl>);
  for (std::size_t i = 0; i < orders.size(); ++i) EXPECT_EQ(orders[i].index(), i);
  for (std::size_t i = 0; i < reports.size(); ++i) EXPECT_EQ(reports[i].index(), i);
}

TEST(Wire, NotANumberSurvives) {
  const auto back = decode_to_control(bytes_of<ToControl>(Decoded{.no_speech_prob = std::nanf("")}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(std::get<Decoded>(*back).no_speech_prob));
}

TEST(Wire, AMessageCutAnywhereIsRefusedByName) {
  for (const ToWorker& message : sample_orders()) {
    const std::string whole = encode_message(message);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      const auto back = decode_to_worker(std::string_view(whole).substr(0, size));
      ASSERT_FALSE(back) << name_of(message) << " cut to " << size;
      EXPECT_EQ(back.error().fault, Fault::corrupt);
      EXPECT_THAT(back.error().what, HasSubstr(std::string(name_of(message))));
      EXPECT_THAT(back.error().what, HasSubstr("at offset "));
    }
  }
}

TEST(Wire, LeftOverBytesAreRefusedWithTheirOffset) {
  const auto back = decode_to_worker(bytes_of<ToWorker>(Ping{1}) + "xy");
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("Ping"));
  EXPECT_THAT(back.error().what, HasSubstr("2 bytes are left over at offset 9"));
}

TEST(Wire, AnUnknownKindIsRefused) {
  std::string bytes = bytes_of<ToWorker>(Ping{1});
  bytes[0] = static_cast<char>(bytes[0] | 0x0f);
  const auto back = decode_to_worker(bytes);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("unknown kind 15"));
  EXPECT_FALSE(decode_to_worker(""));
}

TEST(Wire, OtherProtocolIsRefusedNamingTheBuild) {
  std::string bytes = bytes_of<ToControl>(Hello{});
  bytes[0] = static_cast<char>(bytes[0] ^ 0x30);
  const auto back = decode_to_control(bytes);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().text(), HasSubstr("must come from one build"));
}

TEST(Wire, ATruthValueThatIsNeitherIsRefused) {
  std::string bytes = bytes_of<ToWorker>(DecodeWindow{});
  bytes[bytes.size() - 7] = 2;  // suppress_blank, before timestamps, max_initial_timestamp and token_logprobs
  const auto back = decode_to_worker(bytes);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("suppress_blank"));
}

TEST(Wire, AFaultOutOfRangeIsRefused) {
  for (const int wrong : {static_cast<int>(Fault::internal) + 1, -1, 1 << 30}) {
    const auto back = decode_to_control(bytes_of<ToControl>(Failed{.fault = static_cast<Fault>(wrong)}));
    ASSERT_FALSE(back) << wrong;
    EXPECT_THAT(back.error().what, HasSubstr("fault at offset 17 is out of range"));
  }
}

TEST(Wire, ALogLevelOutOfRangeIsRefused) {
  EXPECT_TRUE(decode_to_control(bytes_of<ToControl>(LogLine{.level = 2})));
  EXPECT_FALSE(decode_to_control(bytes_of<ToControl>(LogLine{.level = 3})));
}

TEST(Wire, AListThatClaimsMoreThanTheLimitIsRefusedBeforeItIsRead) {
  std::string bytes = bytes_of<ToControl>(Language{.window = 1});
  const std::uint32_t claimed = kMaxItems + 1;
  bytes.replace(9, sizeof claimed, std::string(reinterpret_cast<const char*>(&claimed), sizeof claimed));
  bytes.append(4 * std::size_t{claimed}, '\0');
  const auto back = decode_to_control(bytes);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("tokens at offset 9 is longer than its limit"));
}

TEST(Wire, ALongLogLineIsCutAndAListTooLongIsOurOwnFault) {
  const auto back = decode_to_control(bytes_of<ToControl>(LogLine{.text = std::string(kMaxText + 5, 'x')}));
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<LogLine>(*back).text.size(), kMaxText);
  const DecodeWindow heavy{.prompt = std::vector<std::int32_t>(kMaxItems + 1)};
  EXPECT_THROW(bytes_of<ToWorker>(heavy), std::length_error);
}

TEST(Wire, RandomDamageEitherFailsOrMeansExactlyTheDamagedBytes) {
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto reports = sample_reports();
    std::string bytes = encode_message(reports[random() % reports.size()]);
    for (int hits = 0; hits < 2; ++hits) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (const auto back = decode_to_control(bytes)) {
      ++accepted;
      ASSERT_EQ(encode_message(*back), bytes);
    }
  }
  EXPECT_GT(accepted, 1000);
}
