#include "audio/vad/speech.h"

#include <algorithm>
#include <sstream>

#include "audio/vad/silero_kernel.h"
#include "audio/vad/speech_detector.h"
#include "base/field_names.h"
#include "base/try.h"

namespace tutti {
namespace {

/// Samples read at once: 8 s. Whole calls of Silero's kernel.
constexpr std::int64_t kSamplesAtOnce = 16 * kSileroWindows * kVadWindow;

tl::unexpected<Error> wrong(const char* option, const std::string& expected, double found) {
  std::ostringstream text;
  text << field(option) << ": expected " << expected << ", found " << found;
  return fail(Fault::usage, text.str());
}

/// Calls `take` for the recording's samples, part by part in order.
template <class Take>
Result<void> for_each_part(const SampleReader& recording, const OnDecoded& on_audio_decoded, Take&& take) {
  std::vector<std::int16_t> samples;
  for (std::int64_t done = 0; done < recording.samples();) {
    samples.resize(static_cast<std::size_t>(std::min(kSamplesAtOnce, recording.samples() - done)));
    if (auto read = recording.read(done, samples); !read) return read;
    take(std::span<const std::int16_t>(samples));
    done += std::ssize(samples);
    if (on_audio_decoded && !on_audio_decoded(length_of(done, kModelRate)))
      return fail(Fault::cancelled, "the search for speech was stopped");
  }
  return {};
}

}  // namespace

Result<void> check(const VadOptions& options) {
  if (!(options.threshold > 0 && options.threshold <= 1))
    return wrong("vad_threshold", "more than 0 and at most 1", options.threshold);
  if (options.neg_threshold && !(*options.neg_threshold >= 0 && *options.neg_threshold <= options.threshold))
    return wrong("vad_neg_threshold", "at least 0 and at most the threshold", *options.neg_threshold);
  if (options.min_speech_duration_ms < 0)
    return wrong("vad_min_speech_duration_ms", "0 ms or more", options.min_speech_duration_ms);
  if (options.min_silence_duration_ms < 0)
    return wrong("vad_min_silence_duration_ms", "0 ms or more", options.min_silence_duration_ms);
  if (options.speech_pad_ms < 0) return wrong("vad_speech_pad_ms", "0 ms or more", options.speech_pad_ms);
  if (options.target_hz && options.method != VadMethod::keying)
    return fail(Fault::usage, field("target_hz") + ": names the pitch of a keyed tone, and another way finds speech",
                "Take " + field("vad_method") + " keying, or leave it out");
  if (options.target_hz && !(*options.target_hz >= kLowestTarget && *options.target_hz <= kHighestTarget))
    return wrong("target_hz", "250 to 1400 Hz", *options.target_hz);
  const double least = 2e-3 * options.speech_pad_ms + 0.1;
  if (!(options.max_speech_duration_s >= least))
    return wrong("vad_max_speech_duration_s", "0.1 s more than twice the padding, at least",
                 options.max_speech_duration_s);
  return {};
}

Result<std::vector<float>> speech_probabilities(const SampleReader& recording, const VadOptions& options,
                                                const OnDecoded& on_audio_decoded) {
  SpeechProbabilities probabilities(options);
  std::vector<float> all;
  const auto add = [&all](const std::vector<float>& found) { all.insert(all.end(), found.begin(), found.end()); };
  TRY(for_each_part(recording, on_audio_decoded, [&](auto samples) { add(probabilities.feed(samples)); }));
  add(probabilities.finish());
  return all;
}

Result<std::vector<SpeechPiece>> find_speech(const SampleReader& recording, const VadOptions& options) {
  TRY(check(options));
  SpeechDetector detector(options);
  std::vector<SpeechPiece> all;
  const auto add = [&all](const std::vector<SpeechPiece>& found) { all.insert(all.end(), found.begin(), found.end()); };
  TRY(for_each_part(recording, {}, [&](auto samples) { add(detector.feed(samples)); }));
  add(detector.finish());
  return all;
}

}  // namespace tutti
