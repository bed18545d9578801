#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "audio/recording.h"
#include "audio/vad/speech_detector.h"
#include "samples.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

/// Speech of the test data with silence and noise around it, several times: many pieces.
std::vector<std::int16_t> long_recording() {
  const Recording speech = *decode_recording(test_data() / "vad/speech.wav");
  std::vector<std::int16_t> pcm, once(static_cast<std::size_t>(speech.samples()));
  EXPECT_TRUE(speech.read(0, once));
  for (const std::size_t silence : {9'000U, 40'001U, 500U, 70'000U}) {
    pcm.insert(pcm.end(), once.begin(), once.end());
    pcm.resize(pcm.size() + silence);
  }
  return pcm;
}

/// The pieces that a detector finds in `pcm`, which comes in calls of random lengths.
std::vector<SpeechPiece> found_as_it_comes(std::span<const std::int16_t> pcm, const VadOptions& options,
                                           std::uint32_t seed) {
  std::mt19937 random(seed);
  SpeechDetector detector(options);
  std::vector<SpeechPiece> all;
  while (!pcm.empty()) {
    const std::size_t size = std::min<std::size_t>(pcm.size(), random() % (seed % 2 == 0 ? 3'000 : 60'000));
    for (const SpeechPiece& piece : detector.feed(pcm.first(size))) all.push_back(piece);
    pcm = pcm.subspan(size);
  }
  for (const SpeechPiece& piece : detector.finish()) all.push_back(piece);
  return all;
}

}  // namespace

TEST(SpeechDetector, FindsTheSameHoweverTheRecordingIsDivided) {
  TUTTI_NEEDS("vad/speech.wav");
  const auto pcm = long_recording();
  const std::vector<VadOptions> several{
      {},
      {.min_silence_duration_ms = 160, .speech_pad_ms = 30},
      {.min_speech_duration_ms = 300, .max_speech_duration_s = 2, .min_silence_duration_ms = 100},
      {.method = VadMethod::energy, .min_silence_duration_ms = 200, .speech_pad_ms = 200}};
  for (const VadOptions& options : several) {
    const auto whole = find_speech(recording_of(pcm), options).value();
    ASSERT_GE(whole.size(), 1U);
    const auto probabilities = speech_probabilities(recording_of(pcm), options).value();
    EXPECT_EQ(speech_pieces(probabilities, std::ssize(pcm), options), whole);
    for (std::uint32_t seed = 1; seed < 5; ++seed) EXPECT_EQ(found_as_it_comes(pcm, options, seed), whole) << seed;
  }
}

TEST(SpeechDetector, KnowsWhereSpeechAndSilenceBeganThatGoOn) {
  TUTTI_NEEDS("vad/speech.wav");
  const auto pcm = long_recording();
  SpeechDetector detector({});
  EXPECT_EQ(detector.silent_since(), 0);
  std::size_t open = 0, silent = 0;
  std::vector<SpeechPiece> pieces;
  for (std::size_t at = 0; at + 1'600 <= pcm.size(); at += 1'600) {
    for (const SpeechPiece& piece : detector.feed(std::span(pcm).subspan(at, 1'600))) pieces.push_back(piece);
    open += detector.open_start() ? 1 : 0;
    silent += detector.silent_since() ? 1 : 0;
  }
  EXPECT_GT(open, 10U);
  EXPECT_GT(silent, 10U);
  ASSERT_FALSE(pieces.empty());
  EXPECT_FALSE(detector.open_start()) << "the recording ends in four seconds of silence";
  EXPECT_LT(*detector.silent_since(), std::ssize(pcm) - 60'000);
}
