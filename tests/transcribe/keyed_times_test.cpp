#include "transcribe/keyed_times.h"

#include <gtest/gtest.h>

#include "audio/mel/log_mel.h"
#include "audio/pcm_samples.h"
#include "support/keyed_audio.h"

using namespace tutti;

namespace {

constexpr std::size_t kMels = 80;

std::vector<float> mel_of(const KeyedAudio& made) {
  const PcmSamples samples(made.pcm);
  return LogMel(static_cast<int>(kMels), /*keyed_tone=*/true)
      .window(samples, 0, samples.samples() / kHopSamples)
      .value();
}

/// The largest difference of a word's start or end from where it was keyed, where `text` has it by number.
double worst_of(const KeyedAudio& made, const std::string& text) {
  const auto times = times_of_keying(mel_of(made), kMels, text);
  EXPECT_EQ(times.size(), text.size());
  double worst = 0;
  std::size_t at = 0;
  for (const KeyedWord& word : made.text.words) {
    at = text.find_first_not_of(' ', at);
    const std::size_t last = std::min(text.find(' ', at), text.size()) - 1;
    worst = std::max({worst, std::abs(times[at].start - made.start - word.start),
                      std::abs(times[last].end - made.start - word.end)});
    at = last + 1;
  }
  return worst;
}

constexpr const char* kText = "CQ CQ DE DL1ABC K";

}  // namespace

TEST(KeyedTimes, AreThoseOfTheMarksAtEverySpeedAndInNoise) {
  for (const double wpm : {12.0, 20.0, 35.0})
    for (const double snr : {15.0, 0.0})
      EXPECT_LT(worst_of(keyed_audio(kText, {.wpm = wpm, .jitter = 0.1}, snr), kText), 0.1) << wpm << " wpm, " << snr;
}

TEST(KeyedTimes, FollowLongGapsAndLateStarts) {
  const Hand slow{.wpm = 20, .character_gap = 6, .word_gap = 14};
  EXPECT_LT(worst_of(keyed_audio("DE DL1ABC K", slow, 10), "DE DL1ABC K"), 0.1);
  EXPECT_LT(worst_of(keyed_audio("TEST K", {.wpm = 25}, 10, 640, 1.5), "TEST K"), 0.1);
}

TEST(KeyedTimes, AWrongSymbolMovesNoOtherWord) {
  EXPECT_LT(worst_of(keyed_audio(kText, {.wpm = 20}, 10), "CQ CQ DE DL1ABN K"), 0.3);
  EXPECT_LT(worst_of(keyed_audio(kText, {.wpm = 20}, 10), "CQ CQ DE DL1A5C K"), 0.3);
}

TEST(KeyedTimes, TokensHaveStartsAndEndsInOrder) {
  const KeyedAudio made = keyed_audio("DE K", {.wpm = 20}, 10);
  const std::vector<std::string_view> tokens{" ", "D", "E", " K"};
  AlignAnswer answer{.probabilities = {1, 1, 1, 1}};
  set_times_of_keying(times_of_keying(mel_of(made), kMels, " DE K"), std::ssize(made.pcm) / kHopSamples, tokens,
                      answer);
  ASSERT_EQ(answer.starts.size(), 5U);
  ASSERT_EQ(answer.ends.size(), 4U);
  EXPECT_EQ(answer.starts[0], answer.starts[1]) << "a space is where its word begins";
  EXPECT_NEAR(answer.starts[1] * 0.02, 1, 0.05);
  EXPECT_NEAR(answer.ends[2] * 0.02, 1 + made.text.words[0].end, 0.05);
  EXPECT_NEAR(answer.starts[3] * 0.02, 1 + made.text.words[1].start, 0.05);
  EXPECT_EQ(answer.starts[4], answer.ends[3]);
  EXPECT_TRUE(std::ranges::is_sorted(answer.starts));
}

TEST(KeyedTimes, TextOfMoreMarksThanFitHasTimesAllTheSame) {
  const KeyedAudio made = keyed_audio("E", {.wpm = 40}, 10, 640, 0.1);
  const auto times = times_of_keying(mel_of(made), kMels, std::string(100, '0'));
  ASSERT_EQ(times.size(), 100U);
  for (const KeyDown& symbol : times) EXPECT_LE(symbol.start, symbol.end);
  EXPECT_TRUE(times_of_keying(mel_of(made), kMels, "").empty());
}
