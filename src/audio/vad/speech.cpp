#include "audio/vad/speech.h"

#include <algorithm>
#include <sstream>

#include "audio/vad/energy.h"
#include "audio/vad/silero_kernel.h"

namespace tutti {
namespace {

/// Windows read at once: 8 s. Whole calls of Silero's kernel.
constexpr std::int64_t kWindowsAtOnce = 16 * kSileroWindows;

tl::unexpected<Error> wrong(const char* option, const std::string& expected, double found) {
  std::ostringstream text;
  text << "--" << option << ": expected " << expected << ", found " << found;
  return fail(Fault::usage, text.str());
}

/// Calls `take(samples, windows)` for windows in order; `samples` holds `before` samples in front of them, and behind
/// the last ones silence up to kWindowsAtOnce.
template <class Take>
Result<void> for_each_part(const SampleReader& recording, std::int64_t before, const OnDecoded& on_audio_decoded,
                           Take&& take) {
  const std::int64_t windows = recording.samples() / kVadWindow + 1;
  std::vector<std::int16_t> samples(static_cast<std::size_t>(before + kWindowsAtOnce * kVadWindow));
  for (std::int64_t first = 0; first < windows; first += kWindowsAtOnce) {
    const std::int64_t count = std::min(kWindowsAtOnce, windows - first);
    if (auto read = recording.read(first * kVadWindow - before, samples); !read) return read;
    take(std::span<const std::int16_t>(samples), count);
    const std::int64_t done = std::min(recording.samples(), (first + count) * kVadWindow);
    if (on_audio_decoded && !on_audio_decoded(length_of(done, kModelRate)))
      return fail(Fault::cancelled, "the search for speech was stopped");
  }
  return {};
}

Result<std::vector<float>> by_energy(const SampleReader& recording, const OnDecoded& on_audio_decoded) {
  std::vector<float> levels;
  const auto done =
      for_each_part(recording, 0, on_audio_decoded, [&](std::span<const std::int16_t> samples, std::int64_t windows) {
        for (std::int64_t i = 0; i < windows; ++i) {
          // The last one is filled up with silence, which must not become the background of the seconds before.
          const bool whole = std::ssize(levels) < recording.samples() / kVadWindow;
          const auto window = samples.subspan(static_cast<std::size_t>(i * kVadWindow), kVadWindow);
          levels.push_back(whole || levels.empty() ? loudness(window) : levels.back());
        }
      });
  return done.map([&] { return probabilities_of_loudness(levels); });
}

Result<std::vector<float>> by_silero(const SampleReader& recording, const OnDecoded& on_audio_decoded) {
  const SileroKernel& kernel = silero_kernels().front();
  const SileroWeights& weights = silero_weights();
  SileroState state;
  SileroGatesOfWindows gates;
  std::vector<float> probabilities;
  const auto done = for_each_part(
      recording, kSileroContext, on_audio_decoded, [&](std::span<const std::int16_t> samples, std::int64_t windows) {
        for (std::int64_t first = 0; first < windows; first += kSileroWindows) {
          const auto count = static_cast<int>(std::min<std::int64_t>(kSileroWindows, windows - first));
          kernel.compute_gates(weights, samples.data() + first * kVadWindow, gates);
          probabilities.resize(probabilities.size() + static_cast<std::size_t>(count));
          kernel.follow(weights, gates, count, state, &*(probabilities.end() - count));
        }
      });
  return done.map([&] { return std::move(probabilities); });
}

}  // namespace

Result<void> check(const VadOptions& options) {
  if (!(options.threshold > 0 && options.threshold <= 1))
    return wrong("vad-threshold", "more than 0 and at most 1", options.threshold);
  if (options.neg_threshold && !(*options.neg_threshold >= 0 && *options.neg_threshold <= options.threshold))
    return wrong("vad-neg-threshold", "at least 0 and at most the threshold", *options.neg_threshold);
  if (options.min_speech_duration_ms < 0)
    return wrong("vad-min-speech-duration-ms", "0 ms or more", options.min_speech_duration_ms);
  if (options.min_silence_duration_ms < 0)
    return wrong("vad-min-silence-duration-ms", "0 ms or more", options.min_silence_duration_ms);
  if (options.speech_pad_ms < 0) return wrong("vad-speech-pad-ms", "0 ms or more", options.speech_pad_ms);
  const double least = 2e-3 * options.speech_pad_ms + 0.1;
  if (!(options.max_speech_duration_s >= least))
    return wrong("vad-max-speech-duration-s", "0.1 s more than twice the padding, at least",
                 options.max_speech_duration_s);
  return {};
}

Result<std::vector<float>> speech_probabilities(const SampleReader& recording, VadMethod method,
                                                const OnDecoded& on_audio_decoded) {
  return method == VadMethod::energy ? by_energy(recording, on_audio_decoded) : by_silero(recording, on_audio_decoded);
}

Result<std::vector<SpeechPiece>> find_speech(const SampleReader& recording, const VadOptions& options) {
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  const auto probabilities = speech_probabilities(recording, options.method);
  return probabilities.map(
      [&](const std::vector<float>& found) { return speech_pieces(found, recording.samples(), options); });
}

}  // namespace tutti
