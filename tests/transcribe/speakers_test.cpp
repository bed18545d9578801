// The networks that find who speaks, in the real engine, against the values of their reference implementations; and
// what is found with them in conversations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "audio/mel/kaldi_fbank.h"
#include "audio/recording.h"
#include "base/build_id.h"
#include "diarize/error_rate.h"
#include "diarize/rttm.h"
#include "hub/speaker_weights.h"
#include "link/worker_handle.h"
#include "support/test_data.h"
#include "transcribe/speakers/recording_speakers.h"

namespace tutti {
namespace {

using testing::Each;
using testing::FloatNear;
using testing::Pointwise;

constexpr float kRounded = 6e-4F;  // the reference's values have three or four decimals

Recording decoded(const std::string& name) {
  return decode_recording(test_data() / name, {}, {.program = TUTTI_BINARY_DIR "/bin/tutti"}).value();
}

/// A worker without a Whisper model.
std::unique_ptr<WorkerHandle> worker_with(std::int32_t threads) {
  auto worker =
      WorkerHandle::start({.command = {.words = {TUTTI_BINARY_DIR "/bin/tutti-engine", "worker", "--fd", "3"}},
                           .build_id = std::string(build_id()),
                           .model = {.device = "cpu", .compute_type = "float32", .threads = threads}});
  EXPECT_TRUE(worker);
  const auto ready = (*worker)->ready();
  EXPECT_TRUE(ready) << ready.error().text();
  return std::move(*worker);
}

/// A suite that needs the networks.
class Speakers : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto weights = find_speaker_weights(); weights)
      options.weights = *weights;
    else
      GTEST_SKIP() << "another download: " << weights.error().what << " (tools/fetch_speakers.py)";
  }

  std::vector<float> analyzed(WindowEngine& engine, const char* network, std::vector<float> inputs,
                              std::vector<std::int32_t> lengths) const {
    const auto answer = engine.analyze_speakers(
        {.window = 1, .network = network, .weights = options.weights.string(), .lengths = std::move(lengths)}, inputs);
    if (!answer) ADD_FAILURE() << answer.error().text();
    return answer ? answer->values : std::vector<float>();
  }

  FoundSpeakers found_in(const std::string& name, WindowEngine& engine) const {
    const auto recording = decoded(name);
    auto found = find_recording_speakers(recording, engine, options, stopped);
    if (!found) ADD_FAILURE() << found.error().text();
    return found.value_or(FoundSpeakers{});
  }

  DiarizeOptions options{};
  const std::atomic<bool> stopped{false};
};

TEST_F(Speakers, SegmentationEqualsReference) {
  TUTTI_NEEDS("speech/jfk.wav");
  const auto recording = decoded("speech/jfk.wav");
  std::vector<std::int16_t> samples(kSegmentationWindow);
  ASSERT_TRUE(recording.read(0, samples));
  std::vector<float> pcm;
  for (const std::int16_t sample : samples) pcm.push_back(static_cast<float>(sample) / 32768);

  const auto scores = analyzed(*worker_with(1), "segmentation", pcm, {160000});
  ASSERT_EQ(scores.size(), kSegmentationFrames * kSegmentationClasses);
  const auto frame = [&](std::size_t k) {
    return std::vector<float>(scores.begin() + static_cast<std::ptrdiff_t>(k * 7),
                              scores.begin() + static_cast<std::ptrdiff_t>(k * 7 + 7));
  };
  std::array<int, 7> counts{};
  for (std::size_t k = 0; k < kSegmentationFrames; ++k) {
    const auto row = frame(k);
    ++counts[static_cast<std::size_t>(std::ranges::max_element(row) - row.begin())];
  }
  EXPECT_THAT(counts, testing::ElementsAre(173, 0, 416, 0, 0, 0, 0));
  const std::vector<float> at_50{-6.333F, -4.981F, -0.225F, -1.667F, -8.002F, -8.087F, -5.675F};
  EXPECT_THAT(frame(50), Pointwise(FloatNear(kRounded), at_50));
  const std::vector<float> at_588{-4.546F, -6.555F, -0.035F, -4.557F, -6.026F, -9.252F, -4.661F};
  EXPECT_THAT(frame(588), Pointwise(FloatNear(kRounded), at_588));
}

TEST_F(Speakers, FeaturesAndEmbeddingEqualReference) {
  TUTTI_NEEDS("speech/jfk.wav");
  const auto recording = decoded("speech/jfk.wav");
  const auto frames = KaldiFbank::frames(recording.samples());
  ASSERT_EQ(frames, 1098);
  const auto fbank = KaldiFbank().compute(recording, 0, frames).value();
  const auto bin = [&](std::size_t number) { return fbank[100 * 80 + number]; };
  const std::vector<float> at_100{bin(0), bin(1), bin(2), bin(40), bin(79)};
  const std::vector<float> expected{-10.123F, -13.064F, -7.654F, -4.004F, -11.296F};
  EXPECT_THAT(at_100, Pointwise(FloatNear(kRounded), expected));

  const auto worker = worker_with(1);
  auto whole = analyzed(*worker, "embedding", fbank, {1098});
  ASSERT_EQ(whole.size(), 192U);
  EXPECT_NEAR(std::sqrt(std::inner_product(whole.begin(), whole.end(), whole.begin(), 0.0)), 6.9763, 1e-3);
  whole.resize(8);
  const std::vector<float> first{-0.8142F, -0.2992F, -0.5181F, 0.2481F, -0.8432F, -0.2153F, -0.3106F, -0.0870F};
  EXPECT_THAT(whole, Pointwise(FloatNear(kRounded), first));
  auto piece = analyzed(*worker, "embedding", {fbank.begin() + 100 * 80, fbank.begin() + 250 * 80}, {150});
  piece.resize(4);
  const std::vector<float> of_piece{-0.5033F, -0.0778F, -0.2900F, 0.5319F};
  EXPECT_THAT(piece, Pointwise(FloatNear(kRounded), of_piece));
}

TEST_F(Speakers, ConversationHasItsSpeakersAtAnyNumberOfThreads) {
  TUTTI_NEEDS("speakers/c08.opus");
  const auto found = found_in("speakers/c08.opus", *worker_with(1));
  EXPECT_EQ(found.speakers.size(), 4U);
  const auto truth = read_rttm(test_data() / "speakers/c08.rttm").value().begin()->second;
  EXPECT_LE(diarization_errors(truth, found.turns, {.collar = 0.25}).rate(), 0.07);
  EXPECT_EQ(found_in("speakers/c08.opus", *worker_with(2)).turns, found.turns);
}

TEST_F(Speakers, RequestThatNoNetworkTakesIsAnError) {
  const auto worker = worker_with(1);
  const auto fault_of = [&](const char* network, std::int32_t length, const std::string& weights) {
    const AnalyzeSpeakers request{.window = 3, .network = network, .weights = weights, .lengths = {length}};
    const std::vector<float> inputs(static_cast<std::size_t>(request.values()));
    const auto answer = worker->analyze_speakers(request, inputs);
    return answer ? "" : answer.error().what;
  };
  EXPECT_THAT(fault_of("segmentation", 1000, options.weights.string()), testing::HasSubstr("length 1000"));
  EXPECT_THAT(fault_of("embedding", 2, options.weights.string()), testing::HasSubstr("length 2"));
  EXPECT_THAT(fault_of("mood", 160000, options.weights.string()), testing::HasSubstr("'mood'"));
  EXPECT_THAT(fault_of("segmentation", 160000, "/nowhere"), testing::HasSubstr("/nowhere"));
  EXPECT_EQ(fault_of("segmentation", 160000, options.weights.string()), "");
}

/// Audio in memory.
class Samples final : public SampleReader {
 public:
  explicit Samples(std::vector<std::int16_t> samples) : samples_(std::move(samples)) {}
  std::int64_t samples() const override { return std::ssize(samples_); }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = first + static_cast<std::int64_t>(i);
      out[i] = at >= 0 && at < samples() ? samples_[static_cast<std::size_t>(at)] : std::int16_t{0};
    }
    return {};
  }

 private:
  std::vector<std::int16_t> samples_;
};

TEST_F(Speakers, AudioWithoutSpeechOrOfAMomentHasNone) {
  const auto worker = worker_with(1);
  std::vector<std::int16_t> noise(20 * 16000);
  std::uint32_t state = 1;
  for (auto& sample : noise) sample = static_cast<std::int16_t>((state = state * 1664525U + 1013904223U) >> 20);
  for (const auto& audio : {std::vector<std::int16_t>(), std::vector<std::int16_t>(100),
                            std::vector<std::int16_t>(4800), std::vector<std::int16_t>(5 * 16000), noise}) {
    const auto found = find_recording_speakers(Samples(audio), *worker, options, stopped);
    ASSERT_TRUE(found) << audio.size() << " samples: " << found.error().text();
    EXPECT_EQ(found->turns.size(), 0U) << audio.size() << " samples";
  }
}

}  // namespace
}  // namespace tutti
