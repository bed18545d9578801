#include "public/tutti/audio.h"

#include <algorithm>
#include <chrono>

#include "audio/mel/log_mel.h"
#include "audio/pcm_samples.h"
#include "audio/recording.h"
#include "audio/vad/speech.h"
#include "base/clock.h"
#include "base/field_names.h"
#include "base/new_file.h"
#include "base/try.h"
#include "text/error_rate.h"
#include "text/normaliser.h"

namespace tutti {
namespace {

constexpr std::int64_t kSamplesAtOnce = 1 << 20;
const std::string kName = "the samples";

Result<std::vector<std::int16_t>> pcm_of(std::span<const float> samples) {
  if (samples.empty()) return fail(Fault::usage, kName + ": expected one or more, found none");
  return pcm_of_samples(samples, kName);
}

/// Samples whose reader is interrupted once its caller no longer goes on, which is looked at now and then.
class WatchedSamples final : public SampleReader {
 public:
  WatchedSamples(std::span<const std::int16_t> pcm, const std::function<bool()>& go_on) : pcm_(pcm), go_on_(go_on) {}

  std::int64_t samples() const override { return pcm_.samples(); }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    constexpr std::chrono::milliseconds kBetweenLooks{20};
    const auto now = Clock::real().now();
    if (go_on_ && now - looked_ >= kBetweenLooks) {
      looked_ = now;
      if (!go_on_()) return fail(Fault::cancelled, "its caller no longer waits");
    }
    return pcm_.read(first, out);
  }

 private:
  PcmSamples pcm_;
  const std::function<bool()>& go_on_;
  mutable Clock::Instant looked_ = Clock::real().now();  // one thread reads
};

std::vector<std::string> normalised(std::span<const std::string> texts, TextNormalizer normalizer) {
  std::vector<std::string> all(texts.begin(), texts.end());
  for (std::string& text : all) {
    if (normalizer == TextNormalizer::english) text = normalise_english_lines(text);
    if (normalizer == TextNormalizer::basic) text = normalise_basic(text);
    std::ranges::replace(text, '\n', ' ');
  }
  return all;
}

}  // namespace

Result<std::vector<float>> load_audio(const RecordingInput& recording, const std::function<bool()>& go_on) {
  const auto decoded =
      decode_recording(path_of_descriptor(recording.file().get()), [&](Seconds) { return !go_on || go_on(); });
  if (!decoded) return fail_in(recording.name(), decoded.error());
  std::vector<float> samples(static_cast<std::size_t>(decoded->samples()));
  std::vector<std::int16_t> part;
  for (std::int64_t first = 0; first < std::ssize(samples); first += kSamplesAtOnce) {
    part.resize(static_cast<std::size_t>(std::min(kSamplesAtOnce, std::ssize(samples) - first)));
    TRY(decoded->read(first, part));
    std::ranges::transform(part, samples.begin() + first,
                           [](std::int16_t pcm) { return static_cast<float>(pcm) / 32768; });
  }
  return samples;
}

Result<std::vector<float>> log_mel(std::span<const float> samples, int n_mels, std::int64_t padding,
                                   const std::function<bool()>& go_on) {
  if (n_mels < 1 || padding < 0)
    return fail(Fault::usage, field("n_mels") + " " + std::to_string(n_mels) + ", " + field("padding") + " " +
                                  std::to_string(padding) + ": expected 1 or more bins and 0 or more samples");
  const auto pcm = TRY(pcm_of(samples));
  const WatchedSamples recording(pcm, go_on);
  const LogMel mel(n_mels);
  const auto maximum = TRY(mel.maximum(recording));
  return mel.window(recording, 0, (recording.samples() + padding) / kHopSamples, maximum);
}

Result<std::vector<SpeechSpan>> speech_spans(std::span<const float> samples, const VadOptions& options,
                                             const std::function<bool()>& go_on) {
  TRY(check(options));
  const auto pcm = TRY(pcm_of(samples));
  const auto pieces = TRY(find_speech(WatchedSamples(pcm, go_on), options));
  std::vector<SpeechSpan> spans;
  for (const SpeechPiece& piece : pieces) spans.push_back({piece.start, piece.end});
  return spans;
}

Result<WordErrors> word_errors(std::span<const std::string> references, std::span<const std::string> hypotheses,
                               TextNormalizer normalizer) {
  const auto rates = TRY(error_rates(normalised(references, normalizer), normalised(hypotheses, normalizer)));
  const EditCounts& words = rates.words;
  return WordErrors{.wer = rates.wer(),
                    .cer = rates.cer(),
                    .words = words.reference(),
                    .substitutions = words.substitutions,
                    .insertions = words.insertions,
                    .deletions = words.deletions};
}

}  // namespace tutti
