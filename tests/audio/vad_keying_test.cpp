#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/synth/band.h"
#include "audio/synth/disturbance.h"
#include "audio/vad/keying.h"
#include "audio/vad/speech_detector.h"
#include "samples.h"

using namespace tutti;

namespace {

constexpr VadOptions kKeying{.method = VadMethod::keying, .min_silence_duration_ms = 64};
constexpr double kRate = 16000;

/// A text as it is keyed, with a second before and behind it.
struct Keyed {
  KeyedText text;
  std::vector<std::int16_t> pcm{};
};

Keyed keyed(const std::string& text, const Hand& hand, double noise, double hertz = 640) {
  CounterRandom random(7);
  Keyed made{key_text(text, hand, random)};
  std::vector<float> audio(static_cast<std::size_t>((made.text.length() + 2) * kRate));
  add_tone(audio, {.downs = made.text.downs, .start = 1, .hertz = hertz});
  add_noise(audio, noise, 3);
  for (const float sample : audio)
    made.pcm.push_back(static_cast<std::int16_t>(std::clamp(sample * 6000, -32767.0F, 32767.0F)));
  return made;
}

/// So much noise, as a deviation, that the tone is so many decibels over it in 500 Hz.
double noise_under_tone(double decibels) {
  return std::sqrt(kToneAmplitude * kToneAmplitude / 2 / std::pow(10, decibels / 10) * (kRate / 2) / 500);
}

std::vector<SpeechPiece> pieces_of(const std::vector<std::int16_t>& pcm) {
  return find_speech(recording_of(pcm), kKeying).value();
}

/// Words that have their marks in one piece, and borders of pieces that are between two words.
void expect_whole_words(const Keyed& made, const std::vector<SpeechPiece>& pieces) {
  for (const KeyedWord& word : made.text.words) {
    const double middle = 1 + (word.start + word.end) / 2;
    const auto holds = [&](const SpeechPiece& it, double at) {
      return static_cast<double>(it.start) / kRate <= at && at <= static_cast<double>(it.end) / kRate;
    };
    const auto piece = std::ranges::find_if(pieces, [&](const SpeechPiece& it) { return holds(it, middle); });
    ASSERT_NE(piece, pieces.end()) << word.text << " at " << middle;
    EXPECT_TRUE(holds(*piece, 1 + word.start + 0.02) && holds(*piece, 1 + word.end - 0.02))
        << word.text << " is cut at " << static_cast<double>(piece->start) / kRate << " or "
        << static_cast<double>(piece->end) / kRate << ", not in " << word.start + 1 << " to " << word.end + 1;
  }
}

constexpr const char* kContact = "CQ CQ DE DL1ABC DL1ABC K = UR RST 599 599 NAME HANS HANS QTH ROMA = 73";

}  // namespace

TEST(Keying, PiecesAreWordsAtEverySpeed) {
  for (const double wpm : {8.0, 12.0, 20.0, 30.0, 40.0}) {
    const Keyed made = keyed(kContact, {.wpm = wpm, .jitter = 0.05}, noise_under_tone(15));
    const auto pieces = pieces_of(made.pcm);
    expect_whole_words(made, pieces);
    EXPECT_GE(pieces.size(), made.text.words.size() / 2) << wpm << " wpm";
    EXPECT_LE(pieces.size(), made.text.words.size() + 2) << wpm << " wpm";
  }
}

// Of "100W" most is keyed: the gaps are short beside what a level is smoothed over.
TEST(Keying, FiguresOfAFastKeyAreWhole) {
  constexpr const char* kFigures = "R R OH7XYZ DE DL1ABC RIG IC7300 PWR 100W ANT 1306 1000 1097 210 1100 = 100W K";
  for (const double wpm : {26.0, 30.0, 35.0})
    for (const double snr : {20.0, 12.0}) {
      const Keyed made = keyed(kFigures, {.wpm = wpm, .jitter = 0.03}, noise_under_tone(snr));
      expect_whole_words(made, pieces_of(made.pcm));
    }
}

TEST(Keying, LongGapsOfFarnsworthCutNoWord) {
  const Keyed made = keyed(kContact, {.wpm = 20, .character_gap = 7, .word_gap = 17}, noise_under_tone(12));
  const auto pieces = pieces_of(made.pcm);
  expect_whole_words(made, pieces);
  EXPECT_GE(pieces.size(), made.text.words.size() / 2);
}

TEST(Keying, WeakToneIsKeptWhole) {
  const Keyed made = keyed(kContact, {.wpm = 20}, noise_under_tone(-4));
  const auto pieces = pieces_of(made.pcm);
  double kept = 0;
  for (const SpeechPiece& piece : pieces) kept += static_cast<double>(piece.end - piece.start) / kRate;
  EXPECT_GE(kept, 0.9 * made.text.length());
}

TEST(Keying, SilenceAndNoiseAndSteadyToneAreNone) {
  EXPECT_TRUE(pieces_of({}).empty());
  EXPECT_TRUE(pieces_of(std::vector<std::int16_t>(160'000)).empty());
  EXPECT_TRUE(pieces_of(noise(320'000)).empty());
  Keyed steady = keyed("E", {.wpm = 20}, noise_under_tone(20));
  for (std::size_t i = 0; i < steady.pcm.size(); ++i)
    steady.pcm[i] = static_cast<std::int16_t>(8000 * std::sin(0.3 * static_cast<double>(i)));
  EXPECT_TRUE(pieces_of(steady.pcm).empty());
}

TEST(Keying, MostNoiseBetweenOversIsLeftOut) {
  const Keyed made = keyed("CQ DE K1ABC", {.wpm = 25}, noise_under_tone(20));
  std::vector<std::int16_t> pcm = made.pcm;
  const auto quiet = keyed("", {}, noise_under_tone(20)).pcm;
  for (int i = 0; i < 5; ++i) pcm.insert(pcm.end(), quiet.begin(), quiet.end());
  const auto gap = std::ssize(pcm);
  pcm.insert(pcm.end(), made.pcm.begin(), made.pcm.end());
  std::int64_t between = 0;
  for (const SpeechPiece& piece : pieces_of(pcm))
    if (piece.start > std::ssize(made.pcm) && piece.end < gap) between += piece.end - piece.start;
  EXPECT_LE(static_cast<double>(between), 0.25 * static_cast<double>(gap - std::ssize(made.pcm)));
}

TEST(Keying, LonePeaksFarUnderTheToneAreNoWords) {
  constexpr double kGap = 0.5, kLength = 0.048;
  const auto last_start = [&](float level) {
    Keyed made = keyed("CQ DE K1ABC", {.wpm = 25}, noise_under_tone(20));
    std::vector<float> mark(made.pcm.size());
    const double from = made.text.length() + kGap;
    const std::vector<KeyDown> downs{{from, from + kLength}};
    add_tone(mark, {.downs = downs, .start = 1, .hertz = 640});
    for (std::size_t i = 0; i < mark.size(); ++i)
      made.pcm[i] = static_cast<std::int16_t>(std::clamp(made.pcm[i] + level * mark[i] * 6000, -32767.0F, 32767.0F));
    return static_cast<double>(pieces_of(made.pcm).back().start) / kRate - 1 - made.text.length();
  };
  EXPECT_GT(last_start(1), 0) << "a dot as loud as what was keyed before it";
  EXPECT_LT(last_start(0.25F), 0);
}

TEST(Keying, LouderOfTwoStationsIsFollowed) {
  Keyed made = keyed(kContact, {.wpm = 20}, noise_under_tone(20), 640);
  const Keyed other = keyed("TEST TEST TEST TEST TEST TEST TEST TEST TEST", {.wpm = 13}, 0, 940);
  for (std::size_t i = 0; i < std::min(made.pcm.size(), other.pcm.size()); ++i)
    made.pcm[i] = static_cast<std::int16_t>(made.pcm[i] + other.pcm[i] / 3);
  expect_whole_words(made, pieces_of(made.pcm));
}

TEST(Keying, IsTheSameHoweverTheAudioIsDivided) {
  const Keyed made = keyed(kContact, {.wpm = 22, .jitter = 0.1}, noise_under_tone(3));
  const auto whole = pieces_of(made.pcm);
  for (const std::size_t size : {100U, 512U, 7'777U}) {
    SpeechDetector detector(kKeying);
    std::vector<SpeechPiece> found;
    for (std::size_t at = 0; at < made.pcm.size(); at += size) {
      const auto part = std::span(made.pcm).subspan(at, std::min(size, made.pcm.size() - at));
      for (const SpeechPiece& piece : detector.feed(part)) found.push_back(piece);
    }
    for (const SpeechPiece& piece : detector.finish()) found.push_back(piece);
    EXPECT_EQ(found, whole) << size << " at once";
  }
}

TEST(WordGap, IsBetweenThatOfCharactersAndThatOfWords) {
  const std::vector<double> marks{0.06, 0.18, 0.06, 0.18, 0.06};
  EXPECT_NEAR(word_gap(marks, std::vector{0.06, 0.06, 0.18, 0.06, 0.42, 0.06, 0.18, 0.06}), 0.27, 0.05);
  EXPECT_NEAR(word_gap(marks, std::vector{0.06, 0.06, 0.42, 0.06, 1.1, 0.06, 0.42, 0.06}), 0.68, 0.1) << "Farnsworth";
  EXPECT_GT(word_gap(marks, std::vector{0.06, 0.06, 0.18, 0.06, 0.19, 0.06}), 0.25) << "letters alone";
}
