// Morse code read by its likeliest path.

#include "audio/keying/morse_reading.h"

#include <gtest/gtest.h>

#include "audio/keying/sent_text.h"
#include "audio/synth/morse_clip.h"
#include "base/strings.h"
#include "support/keyed_audio.h"

using namespace tutti;

namespace {

constexpr const char* kText = "CQ CQ DE DL1ABC DL1ABC K";

/// What is certain of a whole window; none where that is only a part, or no tone.
std::optional<MorseReading> read_whole(std::span<const std::int16_t> pcm, std::optional<double> target = {}) {
  const KeyedPart part = read_keyed_part(pcm, std::ssize(pcm), target);
  if (part.samples != std::ssize(pcm) || !part.morse || part.morse->empty()) return std::nullopt;
  return part.morse;
}

std::string text_read(const KeyedAudio& made, std::optional<double> target = {}) {
  const auto reading = read_whole(made.pcm, target);
  return reading ? joined(*reading, "", &ReadSymbol::text) : "(none)";
}

}  // namespace

TEST(MorseReading, IsTheTextAtEverySpeedAndLoudness) {
  for (const double wpm : {5.0, 10.0, 20.0, 45.0}) {
    for (const double snr : {20.0, 6.0, 0.0, -3.0}) {
      if (wpm > 40 && snr <= 0) continue;  // a fast dot has less energy
      if (wpm < 8 && snr > 0) continue;    // a minute and more
      EXPECT_EQ(text_read(keyed_audio(kText, {.wpm = wpm, .jitter = 0.03}, snr)), kText) << wpm << " wpm, " << snr;
    }
  }
}

TEST(MorseReading, IsThatOfEveryHand) {
  const Hand straight{.wpm = 20, .jitter = 0.2, .weight = 0.1};
  const Hand bug{.wpm = 25, .jitter = 0.1, .weight = -0.1, .dash = 4, .steady_dots = true};
  const Hand spaced{.wpm = 22, .character_gap = 6.6, .word_gap = 15.4};
  for (const Hand& hand : {straight, bug, spaced}) EXPECT_EQ(text_read(keyed_audio(kText, hand, 10)), kText);
}

TEST(MorseReading, HasTheTimesOfTheMarks) {
  const KeyedAudio made = keyed_audio(kText, {.wpm = 20}, 6);
  const auto reading = read_whole(made.pcm);
  ASSERT_TRUE(reading);
  std::size_t at = 0;
  for (const KeyedWord& word : made.text.words) {
    for (const KeyDown& keyed : word.symbols) {
      ASSERT_LT(at, reading->size());
      EXPECT_NEAR((*reading)[at].start, made.start + keyed.start, 0.03);
      EXPECT_NEAR((*reading)[at].end, made.start + keyed.end, 0.03);
      EXPECT_GT((*reading)[at].logprob, -0.1);
      ++at;
    }
    if (at == reading->size()) continue;
    EXPECT_EQ((*reading)[at++].text, " ");
  }
}

TEST(MorseReading, ProsignsAreWrittenAsTheirCharacters) {
  EXPECT_EQ(text_read(keyed_audio("TU ^SK", {.wpm = 20}, 10)), "TU SK");
}

TEST(MorseReading, InNoiseTheTextBesideDecides) {
  const auto reading = read_whole(keyed_audio(kText, {.wpm = 20, .jitter = 0.03}, -7).pcm);
  ASSERT_TRUE(reading);
  double sum = 0;
  for (const ReadSymbol& symbol : *reading) sum += symbol.logprob;
  EXPECT_LT(sum, -0.05) << "no symbol is certain";
  const SentText& text = SentText::get();
  const auto behind_c = text.after(SentText::next(0, 3));
  EXPECT_GT(behind_c[17], behind_c[23]) << "Q is sent behind C far more often than W is";
  float all = 0;
  for (const float logprob : behind_c) all += std::exp(logprob);
  EXPECT_NEAR(all, 1, 1e-4);
}

TEST(MorseReading, IsOfTheNamedStation) {
  KeyedAudio made = keyed_audio(kText, {.wpm = 20}, 15, 640);
  made.add(keyed_text("TEST TEST DE OH2XYZ OH2XYZ TEST TEST", {.wpm = 24}), 740, 2);
  EXPECT_EQ(text_read(made, 640), kText);
}

TEST(MorseReading, StationsOfOtherSpeedAreReadApart) {
  KeyedAudio made = keyed_audio("TEST DE OM3RY OM3RY", {.wpm = 28, .jitter = 0.03}, 12);
  const KeyedAudio answer = keyed_audio("OM3RY 599 DE F1RS K", {.wpm = 18, .jitter = 0.03}, 6, 643);
  made.pcm.insert(made.pcm.end(), answer.pcm.begin(), answer.pcm.end());
  EXPECT_EQ(text_read(made), "TEST DE OM3RY OM3RY OM3RY 599 DE F1RS K");
}

TEST(MorseReading, OfAllStationsInTurn) {
  for (const double hertz : {655.0, 670.0, 900.0}) {
    KeyedAudio made = keyed_audio(kText, {.wpm = 22}, 12, 640);
    const KeyedAudio answer = keyed_audio("DL1ABC DE F1RS K", {.wpm = 25}, 6, hertz);
    made.pcm.insert(made.pcm.end(), answer.pcm.begin(), answer.pcm.end());
    std::string text;
    std::size_t parts = 0;
    for (std::span<const std::int16_t> rest = made.pcm; !rest.empty(); ++parts) {
      const KeyedPart part = read_keyed_part(rest, 12 * 16'000);
      if (part.morse) text += " " + joined(*part.morse, "", &ReadSymbol::text);
      rest = rest.subspan(static_cast<std::size_t>(part.samples));
    }
    EXPECT_EQ(text, " " + std::string(kText) + " DL1ABC DE F1RS K") << hertz;
    EXPECT_EQ(parts, hertz > 800 ? 2U : 1U) << "what is far away is followed by itself";
  }
}

TEST(MorseReading, NoMoreOfWhatIsUncertainThanIsRequested) {
  std::vector<std::int16_t> carrier(20 * 16'000);
  for (std::size_t i = 0; i < carrier.size(); ++i)
    carrier[i] = static_cast<std::int16_t>(5000 * std::sin(0.25 * static_cast<double>(i)));
  const KeyedPart part = read_keyed_part(carrier, 12 * 16'000);
  EXPECT_FALSE(part.morse);
  EXPECT_LE(part.samples, 12 * 16'000);
  EXPECT_GE(part.samples, 6 * 16'000);
}

TEST(MorseReading, NoneOfNoiseSteadyCarriersAndSilence) {
  MorseCorpus corpus{.seed = 5, .noise_share = 1, .carrier_share = 0.5};
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto clip = morse_clip(corpus, i);
    EXPECT_FALSE(read_whole(std::span(clip.pcm).first(std::min<std::size_t>(clip.pcm.size(), 12 * 16'000)))) << i;
  }
  EXPECT_FALSE(read_whole(std::vector<std::int16_t>(16'000)));
  EXPECT_FALSE(read_whole(std::vector<std::int16_t>(100, 1000)));
  EXPECT_FALSE(read_whole({}));
}
