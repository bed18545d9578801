#include "public/tutti/audio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "audio/synth/audio_file.h"
#include "base/program_paths.h"

namespace tutti {
namespace {

using testing::HasSubstr;

std::vector<float> tone(std::size_t samples) {
  std::vector<float> wave(samples);
  for (std::size_t i = 0; i < samples; ++i) wave[i] = std::sin(static_cast<float>(i) / 9) / 2;
  return wave;
}

TEST(LoadAudio, SamplesComeBackAsTheDecoderHasThem) {
  set_program_paths(ProgramPaths::in(TUTTI_BINARY_DIR "/bin"));
  const auto wave = tone(16000);
  const auto decoded = load_audio(*RecordingInput::of_samples(wave));
  ASSERT_TRUE(decoded) << decoded.error().text();
  ASSERT_EQ(decoded->size(), wave.size());
  for (std::size_t i = 0; i < wave.size(); ++i) ASSERT_NEAR((*decoded)[i], wave[i], 1.0 / 32768);
}

TEST(LoadAudio, BytesOfAFileAreDecodedAndOthersAreNamed) {
  set_program_paths(ProgramPaths::in(TUTTI_BINARY_DIR "/bin"));
  const auto wav = wav_bytes(std::vector<std::int16_t>(8000, 100), Hertz{8000});
  const auto decoded = load_audio(*RecordingInput::of_bytes(std::as_bytes(std::span(wav))));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->size(), 16000U) << "a second, at the model's rate";
  const std::string text(100, 'x');
  const auto refused = load_audio(*RecordingInput::of_bytes(std::as_bytes(std::span(text)), "talk.mp3"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("talk.mp3"));
  EXPECT_FALSE(RecordingInput::of_bytes({}));
}

TEST(LogMelOfSamples, HasAHundredFramesASecondAndThoseOfPadding) {
  const auto wave = tone(16100);
  const auto mel = log_mel(wave);
  ASSERT_TRUE(mel) << mel.error().text();
  EXPECT_EQ(mel->size(), 80U * 100);
  const auto padded = log_mel(wave, 128, 16000);
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->size(), 128U * 200);
}

TEST(LogMelOfSamples, BadSamplesAndCountsAreErrors) {
  const std::vector<float> bad{0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(log_mel(bad).error().what, HasSubstr("sample 1"));
  EXPECT_EQ(log_mel({}).error().fault, Fault::usage);
  EXPECT_THAT(log_mel(tone(99), 0).error().what, HasSubstr("n_mels 0"));
}

TEST(SpeechSpans, SilenceHasNone) {
  const auto spans = speech_spans(std::vector<float>(32000, 0));
  ASSERT_TRUE(spans) << spans.error().text();
  EXPECT_TRUE(spans->empty());
  EXPECT_FALSE(speech_spans(tone(99), {.threshold = 2}));
}

TEST(WordErrors, NormalizerActsOnBothTexts) {
  const std::vector<std::string> references{"Two dogs."}, hypotheses{"2 dogs"};
  EXPECT_EQ(word_errors(references, hypotheses, TextNormalizer::english)->wer, 0);
  EXPECT_EQ(word_errors(references, hypotheses)->substitutions, 2);
  EXPECT_FALSE(word_errors(references, {}));
}

TEST(PublicAudio, ComputationEndsOnceItsCallerDoesNotGoOn) {
  std::vector<float> samples(600UL * 16000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 997) / 2000;
  const auto mel = log_mel(samples, 80, 0, [] { return false; });
  ASSERT_FALSE(mel);
  EXPECT_EQ(mel.error().fault, Fault::cancelled);
  EXPECT_EQ(speech_spans(samples, {}, [] { return false; }).error().fault, Fault::cancelled);
}

}  // namespace
}  // namespace tutti
