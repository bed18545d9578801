// One of several stations, named by its pitch.

#include <gtest/gtest.h>

#include "audio/mel/log_mel.h"
#include "audio/pcm_samples.h"
#include "audio/tone_filter.h"
#include "audio/vad/speech.h"
#include "support/keyed_audio.h"

using namespace tutti;

namespace {

constexpr const char* kText = "CQ DE DL1ABC DL1ABC K";

/// A station at 640 Hz, and one that is 6 dB louder so many Hz above it.
KeyedAudio beside(double apart) {
  KeyedAudio made = keyed_audio(kText, {.wpm = 20}, 15, 640);
  made.add(keyed_text("TEST TEST DE OH2XYZ OH2XYZ TEST TEST DE OH2XYZ", {.wpm = 24}), 640 + apart, 2);
  return made;
}

/// Decibels that the filtered tone is louder where the station's key is down than where it is up.
double contrast(const KeyedAudio& made, std::optional<double> target) {
  const auto tone = keyed_tone(made.pcm, target);
  double down = 0, up = 0;
  std::size_t downs = 0, ups = 0;
  for (std::size_t i = 0; i < tone.size(); ++i) {
    const double at = static_cast<double>(i) / 16'000 - made.start, power = static_cast<double>(tone[i]) * tone[i];
    if (at < 0 || at > made.text.length()) continue;
    const bool is_down =
        std::ranges::any_of(made.text.downs, [at](const KeyDown& mark) { return mark.start <= at && at < mark.end; });
    (is_down ? down : up) += power;
    ++(is_down ? downs : ups);
  }
  return 10 * std::log10(down / static_cast<double>(downs) / (up / static_cast<double>(ups)));
}

}  // namespace

TEST(TargetTone, IsTheStationOfThatPitchThoughAnotherIsLouder) {
  for (const double apart : {50.0, 100.0, 150.0}) {
    const KeyedAudio made = beside(apart);
    EXPECT_LT(contrast(made, {}), 2) << apart << " Hz: the louder one is taken";
    EXPECT_GT(contrast(made, 640), 5) << apart << " Hz";
    EXPECT_GT(contrast(made, 633), 5) << apart << " Hz, named less exactly";
  }
}

TEST(TargetTone, AloneItIsWhatIsTakenAnyway) {
  const KeyedAudio made = keyed_audio(kText, {.wpm = 20}, 15, 640);
  EXPECT_GT(contrast(made, 640), 10);
  EXPECT_GT(contrast(made, {}), 10);
}

TEST(TargetTone, NothingWhereNoStationIsAtThatPitch) {
  const auto is_silent = [](const KeyedAudio& made, double target) {
    return std::ranges::all_of(keyed_tone(made.pcm, target), [](std::int16_t sample) { return sample == 0; });
  };
  const KeyedAudio alone = keyed_audio(kText, {.wpm = 20}, 15, 640);
  for (const double away : {-100.0, -80.0, -60.0, -45.0, 45.0, 60.0, 80.0, 100.0})
    EXPECT_TRUE(is_silent(alone, 640 + away)) << away << " Hz away only the edges of its marks are there";
  for (const double away : {-15.0, 0.0, 15.0}) EXPECT_FALSE(is_silent(alone, 640 + away)) << away;
  for (const double apart : {-40.0, 40.0}) EXPECT_FALSE(is_silent(beside(apart), 640)) << "beside a louder one";
}

TEST(TargetTone, WindowsFollowItsKeying) {
  const KeyedAudio made = beside(100);
  const auto whole_words = [&](std::optional<double> target) {
    const VadOptions keying{.method = VadMethod::keying, .min_silence_duration_ms = 64, .target_hz = target};
    const auto pieces = find_speech(PcmSamples(made.pcm), keying).value();
    std::size_t whole = 0;
    for (const KeyedWord& word : made.text.words)
      whole += static_cast<std::size_t>(std::ranges::count_if(pieces, [&](const SpeechPiece& piece) {
        const double from = static_cast<double>(piece.start) / 16'000 - made.start;
        const double to = static_cast<double>(piece.end) / 16'000 - made.start;
        return from <= word.start + 0.03 && to >= word.end - 0.03 && to - from < word.end - word.start + 1.2;
      }));
    return whole;
  };
  EXPECT_EQ(whole_words(640), made.text.words.size());
  EXPECT_LT(whole_words({}), made.text.words.size());
}

TEST(TargetTone, OptionsThatNameNoneAreRefused) {
  EXPECT_TRUE(check({.method = VadMethod::keying, .target_hz = 640}));
  EXPECT_FALSE(check({.method = VadMethod::keying, .target_hz = 2000}));
  EXPECT_FALSE(check({.method = VadMethod::keying, .target_hz = 100}));
  EXPECT_FALSE(check({.method = VadMethod::silero, .target_hz = 640})) << "silero finds no tone";
}
