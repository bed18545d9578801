#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "audio/synth/band.h"
#include "audio/synth/contest.h"
#include "audio/synth/morse_clip.h"

namespace tutti {
namespace {

/// How strong the tone is in each 5 ms: the magnitude of one Fourier term, by Goertzel's sum.
std::vector<double> loudness_of_tone(const std::vector<std::int16_t>& pcm, double hertz) {
  constexpr std::size_t kStep = 80, kWindow = 160;
  std::vector<double> levels;
  for (std::size_t at = 0; at + kWindow <= pcm.size(); at += kStep) {
    double re = 0, im = 0;
    for (std::size_t i = 0; i < kWindow; ++i) {
      const double angle = 2 * std::numbers::pi * hertz * static_cast<double>(i) / 16000;
      re += pcm[at + i] * std::cos(angle);
      im += pcm[at + i] * std::sin(angle);
    }
    levels.push_back(std::hypot(re, im));
  }
  return levels;
}

char character_of(const std::string& pattern) {
  for (char c = '!'; c <= 'Z'; ++c)
    if (morse_pattern(c) == pattern) return c;
  return '#';
}

/// Reads Morse of known tone and speed: on and off by half the loudest level, marks and gaps by their length.
std::string read_morse(const MorseClip& clip) {
  const auto levels = loudness_of_tone(clip.pcm, clip.tone_hz);
  const double threshold = *std::max_element(levels.begin(), levels.end()) / 2;
  const double unit = 1.2 / clip.wpm / 0.005;
  std::string text, pattern;
  double run = 0;
  bool is_on = false;
  const auto end_character = [&] {
    if (!pattern.empty()) text += character_of(pattern);
    pattern.clear();
  };
  for (const double level : levels) {
    if ((level > threshold) == is_on) {
      ++run;
      continue;
    }
    if (is_on) pattern += run > 2 * unit ? '-' : '.';
    if (!is_on && run > 2 * unit) end_character();
    if (!is_on && run > 5 * unit && !text.empty()) text += ' ';
    is_on = !is_on;
    run = 1;
  }
  end_character();
  return text;
}

MorseCorpus clean_corpus() {
  MorseCorpus corpus;
  corpus.condition = Condition::clean;
  corpus.noise_share = 0;
  return corpus;
}

TEST(Morse, ParisTakesFiftyUnitsOfWhichSevenPartItFromTheNext) {
  CounterRandom random(1);
  const KeyedText keyed = key_text("PARIS PARIS", {.wpm = 20}, random);
  ASSERT_EQ(keyed.words.size(), 2U);
  constexpr double kUnit = 0.06;
  EXPECT_NEAR(keyed.words[1].start, 50 * kUnit, 1e-9);
  EXPECT_NEAR(keyed.words[1].start - keyed.words[0].end, 7 * kUnit, 1e-9);
}

TEST(Morse, ProsignTextIsKeyedAsSingleCharacters) {
  CounterRandom random(1);
  EXPECT_EQ(key_text("AR", {.wpm = 20}, random).downs.size(), 5U);
  const KeyedText keyed = key_text("AR", {.wpm = 20}, random);
  EXPECT_NEAR(keyed.downs[2].start - keyed.downs[1].end, 3 * 0.06, 1e-9);
}

TEST(Morse, JitterMovesMarksButKeepsSpeed) {
  CounterRandom random(3);
  const KeyedText keyed = key_text("PARIS PARIS PARIS PARIS", {.wpm = 20, .jitter = 0.08}, random);
  EXPECT_NEAR(keyed.length(), (4 * 50 - 7) * 0.06, 0.3);
  std::set<double> lengths;
  for (const KeyDown& down : keyed.downs) lengths.insert(down.end - down.start);
  EXPECT_GT(lengths.size(), 20U);
}

TEST(Morse, CleanClipsReadBackToTheirLabels) {
  const MorseCorpus corpus = clean_corpus();
  for (std::int64_t i = 0; i < 40; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    EXPECT_EQ(read_morse(clip), clip.text) << "clip " << i << " at " << clip.wpm << " wpm, " << clip.tone_hz << " Hz";
  }
}

TEST(Morse, GoodClipsReadBackAlmostAll) {
  MorseCorpus corpus = clean_corpus();
  corpus.condition = Condition::good;
  corpus.wpm = {15, 30};
  int right = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    right += read_morse(clip) == clip.text;
  }
  EXPECT_GE(right, 24);
}

TEST(Morse, TimesOfWordsLieOnTheirTone) {
  const MorseClip clip = morse_clip(clean_corpus(), 5);
  const auto levels = loudness_of_tone(clip.pcm, clip.tone_hz);
  const double threshold = *std::max_element(levels.begin(), levels.end()) / 2;
  ASSERT_FALSE(clip.words.empty());
  const auto first = std::find_if(levels.begin(), levels.end(), [&](double level) { return level > threshold; });
  const auto last = std::find_if(levels.rbegin(), levels.rend(), [&](double level) { return level > threshold; });
  EXPECT_NEAR(clip.words.front().start, static_cast<double>(first - levels.begin()) * 0.005, 0.011);
  EXPECT_NEAR(clip.words.back().end, static_cast<double>(levels.rend() - last) * 0.005, 0.011);
}

TEST(Morse, ReceiversLetTheToneThroughAndSomeAreDrivenTooFar) {
  MorseCorpus corpus = clean_corpus();
  corpus.receiver_share = 1;
  int driven = 0, cut = 0, whole = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    ASSERT_TRUE(clip.path.receiver);
    EXPECT_EQ(read_morse(clip), clip.text) << "clip " << i << " at " << clip.wpm << " wpm, " << clip.tone_hz << " Hz";
    driven += clip.path.receiver->drive > 1;
    // Well inside the band the tone keeps its strength: it is cut off just where it passes full scale.
    const Receiver& receiver = *clip.path.receiver;
    if (clip.tone_hz < 2 * receiver.low_hz || clip.tone_hz > receiver.high_hz / 2) continue;
    const auto is_full = [](std::int16_t sample) { return std::abs(sample) >= 32400; };
    const auto full = std::count_if(clip.pcm.begin(), clip.pcm.end(), is_full);
    const double height = receiver.drive * kToneAmplitude;
    if (height > 1.2) {
      ++cut;
      EXPECT_GT(full, std::ssize(clip.pcm) / 100) << "clip " << i << ", driven by " << receiver.drive;
    } else if (height < 0.8) {
      ++whole;
      EXPECT_EQ(full, 0) << "clip " << i << ", driven by " << receiver.drive;
    }
  }
  EXPECT_GE(cut, 1);
  EXPECT_GE(whole, 20);
  EXPECT_GT(driven, 18);
  EXPECT_LT(driven, 35);
}

TEST(Morse, ReceiversCutNoiseOffAboveTheirBand) {
  MorseCorpus corpus = clean_corpus();
  corpus.noise_share = corpus.receiver_share = 1;
  const auto mean_level = [](const MorseClip& clip, double hertz) {
    const auto levels = loudness_of_tone(clip.pcm, hertz);
    return std::accumulate(levels.begin(), levels.end(), 0.0) / static_cast<double>(levels.size());
  };
  for (std::int64_t i = 0; i < 20; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    const double inside = mean_level(clip, 800), outside = mean_level(clip, clip.path.receiver->high_hz * 2);
    EXPECT_GT(20 * std::log10(inside / outside), 6 * clip.path.receiver->slopes) << "clip " << i;
  }
}

TEST(Morse, EveryClipIsAFunctionOfSeedAndNumber) {
  MorseCorpus corpus;
  EXPECT_EQ(morse_clip(corpus, 17).pcm, morse_clip(corpus, 17).pcm);
  EXPECT_NE(morse_clip(corpus, 17).pcm, morse_clip(corpus, 18).pcm);
  corpus.seed = 1;
  EXPECT_NE(morse_clip(corpus, 17).pcm, morse_clip({}, 17).pcm);
}

TEST(Morse, NoiseOnlyClipsHaveTheRequestedNoiseLevel) {
  MorseCorpus corpus = clean_corpus();
  corpus.noise_share = 1;
  for (std::int64_t i = 0; i < 5; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    EXPECT_EQ(clip.text, "");
    double power = 0;
    for (const std::int16_t sample : clip.pcm) power += std::pow(sample / 32767.0, 2);
    power /= static_cast<double>(clip.pcm.size());
    const double requested = kToneAmplitude * kToneAmplitude / 2 / std::pow(10, clip.path.noise_db / 10);
    // The band's edges are slopes, not walls: half a decibel.
    EXPECT_NEAR(10 * std::log10(power / requested), 0, 0.7) << "clip " << i;
  }
}

TEST(Morse, NoiseLevelStaysWithinTheRequestedRange) {
  MorseCorpus corpus = clean_corpus();
  corpus.noise_db = Between{-2, 4};
  for (std::int64_t i = 0; i < 20; ++i) {
    const double noise = morse_clip(corpus, i).path.noise_db;
    EXPECT_GE(noise, -2);
    EXPECT_LE(noise, 4);
  }
  corpus.noise_db = Between{4, -2};
  EXPECT_FALSE(check(corpus));
}

TEST(Morse, TextBeyondTheLengthIsDroppedFromAudioAndText) {
  MorseCorpus corpus = clean_corpus();
  corpus.longest = Seconds(15);
  corpus.wpm = {12, 14};
  for (std::int64_t i = 0; i < 30; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    EXPECT_LE(clip.length(), corpus.longest);
    EXPECT_EQ(read_morse(clip), clip.text);
  }
}

TEST(Morse, ClipsThatWaitHaveSecondsOfTheBandBesideTheirText) {
  MorseCorpus corpus = clean_corpus();
  corpus.longest = Seconds(12);
  corpus.wait_share = 1;
  int before = 0, behind = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    EXPECT_TRUE(clip.length() <= corpus.longest || clip.words.size() == 1)
        << "clip " << i;  // one word is never left out
    EXPECT_EQ(read_morse(clip), clip.text) << "clip " << i;
    before += clip.words.front().start > 1.1;
    behind += clip.length().count() - clip.words.back().end > 1.1;
    EXPECT_GT(clip.length().count() - clip.words.back().end + clip.words.front().start, 0.5) << "clip " << i;
  }
  for (const int count : {before, behind}) EXPECT_TRUE(count > 8 && count < 36) << count;
}

TEST(Morse, CarriersAreSteadyAndHaveNoText) {
  MorseCorpus corpus = clean_corpus();
  corpus.noise_share = corpus.carrier_share = 1;
  int whole = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    EXPECT_EQ(clip.text, "");
    EXPECT_EQ(clip.kind, "noise_carrier");
    const auto levels = loudness_of_tone(clip.pcm, clip.tone_hz);
    const double half = *std::max_element(levels.begin(), levels.end()) / 2;
    const auto is_down = [&](double level) { return level > half; };
    const auto down = std::count_if(levels.begin(), levels.end(), is_down);
    EXPECT_GT(down, std::ssize(levels) * 45 / 100) << "clip " << i;
    const auto first = std::find_if(levels.begin(), levels.end(), is_down);
    EXPECT_TRUE(std::all_of(first, first + down, is_down)) << "clip " << i << ": one mark";
    whole += down > std::ssize(levels) * 98 / 100;
  }
  EXPECT_TRUE(whole > 4 && whole < 16) << whole;
}

TEST(Morse, TextsAreOfAllEightContestsInAlphabetAndLength) {
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 400; ++i) {
    CounterRandom random({i});
    const ContestText text = contest_text(random);
    ++seen[text.contest];
    EXPECT_FALSE(text.text.empty());
    for (const char c : text.text) EXPECT_TRUE(c == ' ' || !morse_pattern(c).empty()) << text.text;
  }
  EXPECT_EQ(seen.size(), 8U);
}

TEST(Morse, ContactsSendCallsTwiceAndCutFigures) {
  std::set<std::string> kinds;
  int twice = 0, cut = 0, prosigns = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    CounterRandom random({i});
    const ContestText made = contact_text(random);
    kinds.insert(made.kind);
    std::string last, word;
    for (const char c : made.text + " ") {
      if (c != ' ') {
        EXPECT_TRUE(c == '^' || !morse_pattern(c).empty()) << made.text;
        word += c;
        continue;
      }
      EXPECT_FALSE(word.empty()) << "two spaces: " << made.text;
      twice += word == last && word.size() > 2;
      cut += word == "5NN";
      prosigns += word.starts_with('^');
      last = std::exchange(word, {});
    }
  }
  EXPECT_EQ(kinds.size(), 8U);
  EXPECT_GT(twice, 100);
  EXPECT_GT(cut, 10);
  EXPECT_GT(prosigns, 20);
}

TEST(Morse, ProsignHasNoGapsBetweenItsCharacters) {
  CounterRandom random(1);
  const KeyedText keyed = key_text("^SK E", {.wpm = 20}, random);
  ASSERT_EQ(keyed.downs.size(), 7U);
  ASSERT_EQ(keyed.words.size(), 2U);
  EXPECT_EQ(keyed.words[0].text, "SK");
  for (std::size_t i = 1; i < 6; ++i) EXPECT_NEAR(keyed.downs[i].start - keyed.downs[i - 1].end, 0.06, 1e-9);
}

TEST(Morse, HandsDifferInWeightSpacingAndSpeed) {
  CounterRandom random(4);
  const Hand hand{.wpm = 20, .weight = 0.2, .dash = 4, .character_gap = 5, .word_gap = 12};
  const KeyedText keyed = key_text("AE E", hand, random);
  const auto units = [](double seconds) { return seconds / 0.06; };
  EXPECT_NEAR(units(keyed.downs[0].end - keyed.downs[0].start), 1.2, 1e-9);
  EXPECT_NEAR(units(keyed.downs[1].start - keyed.downs[0].end), 0.8, 1e-9);
  EXPECT_NEAR(units(keyed.downs[1].end - keyed.downs[1].start), 4.2, 1e-9);
  EXPECT_NEAR(units(keyed.downs[2].start - keyed.downs[1].end), 5, 1e-9);
  EXPECT_NEAR(units(keyed.downs[3].start - keyed.downs[2].end), 12, 1e-9);
  std::set<double> lengths;
  for (const KeyDown& down : key_text("EEEEEEEE", {.jitter = 0.2, .steady_dots = true}, random).downs)
    lengths.insert(std::round((down.end - down.start) * 1e9));
  EXPECT_EQ(lengths.size(), 1U) << "a bug's dots";
  const KeyedText wanders = key_text("EEEEEEEEEEEEEEEEEEEEEEEEEEEE", {.wander = 0.1}, random);
  const auto length = [](const KeyDown& down) { return down.end - down.start; };
  const auto [least, most] = std::ranges::minmax(wanders.downs, {}, length);
  EXPECT_GT(length(most) / length(least), 1.15);
}

TEST(Morse, ChirpMovesTheToneWhereAMarkBegins) {
  const std::vector<KeyDown> downs{{0, 0.3}};
  std::vector<float> audio(4800);
  add_tone(audio, {.downs = downs, .hertz = 600, .edge = 0, .chirp_hz = 200});
  const auto crossings = [&](std::size_t from, std::size_t to) {
    int count = 0;
    for (std::size_t i = from + 1; i < to; ++i) count += (audio[i - 1] < 0) != (audio[i] < 0);
    return count;
  };
  EXPECT_GE(crossings(0, 160), crossings(3200, 3360) + 2) << "of 10 ms each";
  EXPECT_NEAR(crossings(3200, 4800), 120, 2);
}

TEST(Morse, ClipsOffTheAirAreAsLoudAsDrawnAndHaveTheirNoise) {
  MorseCorpus corpus;
  corpus.noise_share = 0;
  corpus.air_share = corpus.hand_share = corpus.contact_share = 1;
  std::set<std::string> contests;
  int faded = 0, near = 0, loud = 0, narrow = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    const MorseClip clip = morse_clip(corpus, i);
    contests.insert(clip.contest);
    int peak = 0;
    for (const std::int16_t sample : clip.pcm) peak = std::max(peak, std::abs(sample));
    EXPECT_NEAR(peak, clip.path.loudness * 32767, 40) << "clip " << i;
    faded += clip.path.fade_depth > 0.3;
    near += clip.path.others > 0 && clip.path.beside_hz.most > 0;
    loud += clip.path.noise_db < 0;
    narrow += clip.path.filter_hz > 0 && clip.path.filters > 1;
    EXPECT_LE(clip.path.others_db, -3) << "the louder is the target";
  }
  EXPECT_EQ(contests, (std::set<std::string>{"CONTACT", "PLAIN"}));
  for (const int count : {faded, near, loud, narrow}) EXPECT_TRUE(count > 8 && count < 52) << count;
}

TEST(Morse, ConditionsDifferInWhatDisturbsThem) {
  CounterRandom random(1);
  EXPECT_EQ(radio_path_of(Condition::clean, random).others, 0);
  EXPECT_GT(radio_path_of(Condition::poor, random).notch_depth, 0);
  EXPECT_GT(radio_path_of(Condition::poor, random).echo_gain, 0);
  EXPECT_GT(radio_path_of(Condition::moderate, random).crashes_hz, 0);
  EXPECT_EQ(radio_path_of(Condition::dx, random).others, 5);
  EXPECT_LT(radio_path_of(Condition::dx, random).noise_db, radio_path_of(Condition::good, random).noise_db);
  EXPECT_EQ(condition_named("dx"), Condition::dx);
  EXPECT_EQ(condition_named("mixed"), std::nullopt);
}

TEST(Morse, InvalidCorpusErrorStatesExpectedAndFound) {
  EXPECT_TRUE(check(MorseCorpus{}));
  EXPECT_EQ(check(MorseCorpus{.noise_share = 2}).error().what, "share of noise: expected 0 to 1, found 2");
  EXPECT_EQ(check(MorseCorpus{.wpm = {40, 15}}).error().what,
            "speed: expected 5 to 100 wpm, the least first; found 40 to 15 wpm");
  EXPECT_EQ(check(MorseCorpus{.longest = Seconds(3)}).error().what, "longest clip: expected 4 to 600 s, found 3");
  EXPECT_FALSE(check(MorseCorpus{.noise_share = std::nan("")}));
  EXPECT_EQ(check(MorseCorpus{.air_share = 2}).error().what, "share off the air: expected 0 to 1, found 2");
  EXPECT_EQ(check(MorseCorpus{.wait_share = 2}).error().what, "share of waits: expected 0 to 1, found 2");
}

}  // namespace
}  // namespace tutti
