#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "audio/vad/silero_kernel.h"
#include "audio/vad/speech.h"
#include "golden_lines.h"
#include "samples.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

// SOUNDS of tools/golden/vad.py.
constexpr const char* kAudioFiles[] = {"vad/speech.wav", "vad/silence.wav", "speech/gb0.wav"};

/// Largest difference from what Silero's TorchScript gave; a window that we have beyond its last is not compared.
double worst_error(const std::vector<double>& expected, std::span<const float> found) {
  EXPECT_GE(found.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(found[i] - expected[i]));
  return worst;
}

std::vector<float> probabilities_by(const SileroKernel& kernel, std::vector<std::int16_t> pcm) {
  pcm.insert(pcm.begin(), kSileroContext, 0);
  const std::size_t call = kSileroSpan - kSileroContext;
  pcm.resize(pcm.size() + call - (pcm.size() - kSileroContext) % call);
  SileroState state;
  SileroGatesOfWindows gates;
  std::vector<float> out(pcm.size() / kVadWindow);
  for (std::size_t first = 0; first + kSileroSpan <= pcm.size(); first += call) {
    kernel.compute_gates(silero_weights(), pcm.data() + first, gates);
    kernel.follow(silero_weights(), gates, kSileroWindows, state, out.data() + first / kVadWindow);
  }
  return out;
}

}  // namespace

TEST(SileroVad, GivesTheProbabilitiesOfItsTorchScript) {
  const auto golden = golden_lines("vad_probabilities.txt");
  ASSERT_EQ(golden.size(), std::size(kAudioFiles));
  TUTTI_NEEDS(kAudioFiles[0]);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!std::filesystem::exists(test_data() / kAudioFiles[i])) continue;  // the long one is in the shared data alone
    const auto recording = decode_recording(test_data() / kAudioFiles[i]);
    ASSERT_TRUE(recording) << recording.error().text();
    const auto found = speech_probabilities(*recording, VadOptions{});
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->size(), static_cast<std::size_t>(recording->samples() / kVadWindow + 1));
    const double worst = worst_error(golden[i], *found);
    EXPECT_LT(worst, 1e-4) << kAudioFiles[i];
    std::printf("%s: %zu windows, largest difference from the TorchScript %.1e\n", kAudioFiles[i], found->size(),
                worst);
  }
}

TEST(SileroVad, AllGenerationsOfMachinesComputeTheSame) {
  const std::size_t i = std::filesystem::exists(test_data() / kAudioFiles[2]) ? 2 : 0;
  TUTTI_NEEDS(kAudioFiles[i]);
  const auto recording = decode_recording(test_data() / kAudioFiles[i]);
  ASSERT_TRUE(recording) << recording.error().text();
  const auto golden = golden_lines("vad_probabilities.txt");
  for (const SileroKernel& kernel : silero_kernels())
    EXPECT_LT(worst_error(golden[i], probabilities_by(kernel, all_of(*recording))), 1e-4) << kernel.name;
}

TEST(SileroVad, FindsTheSpeechAndNothingInSilenceOrNoise) {
  TUTTI_NEEDS("vad/speech.wav");
  const VadOptions options{.min_silence_duration_ms = 160, .speech_pad_ms = 30};
  const auto speech = find_speech(*decode_recording(test_data() / "vad/speech.wav"), options).value();
  ASSERT_EQ(speech.size(), 1U);
  EXPECT_TRUE(find_speech(recording_of(std::vector<std::int16_t>(48000)), options).value().empty());
  EXPECT_TRUE(find_speech(recording_of(noise(48000)), options).value().empty());
  EXPECT_TRUE(find_speech(recording_of({}), options).value().empty());
}

TEST(SileroVad, ConcurrentThreadsGetEqualProbabilities) {
  const Recording recording = recording_of(noise(160'000));
  const auto alone = speech_probabilities(recording, VadOptions{}).value();
  std::vector<std::vector<float>> beside(4);
  {
    std::vector<std::jthread> threads;
    for (auto& found : beside)
      threads.emplace_back([&] { found = speech_probabilities(recording, VadOptions{}).value(); });
  }
  for (const auto& found : beside) EXPECT_EQ(found, alone);
}
