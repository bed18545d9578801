#include "audio/vad/speech_amount.h"

#include <algorithm>

#include "audio/vad/speech.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::int64_t kPart = 300 * std::int64_t{16000};  // samples

/// Samples [first, first + count) of another recording.
class Part final : public SampleReader {
 public:
  Part(const SampleReader& whole, std::int64_t first, std::int64_t count)
      : whole_(whole), first_(first), count_(count) {}
  std::int64_t samples() const override { return count_; }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    return whole_.read(first_ + first, out);
  }

 private:
  const SampleReader& whole_;
  std::int64_t first_, count_;
};

/// Calls `enough` with the speech found and the time looked at after each part; true ends it.
template <class Enough>
Result<Seconds> measure_speech(const SampleReader& recording, const OnDecoded& on_audio_decoded, Enough enough) {
  const double threshold = VadOptions{}.threshold;
  Seconds speech{0};
  for (std::int64_t first = 0; first < recording.samples(); first += kPart) {
    const Part part(recording, first, std::min(kPart, recording.samples() - first));
    const auto probabilities = TRY(speech_probabilities(part, VadOptions{}, on_audio_decoded));
    const auto windows = std::ranges::count_if(probabilities, [&](float p) { return p >= threshold; });
    speech += length_of(windows * kVadWindow, kModelRate);
    if (enough(speech, length_of(first + part.samples(), kModelRate))) break;
  }
  return speech;
}

bool is_speech(Seconds speech, Seconds all) {
  constexpr double kShare = 0.01;
  return speech >= std::max(kLeastSpeech, all * kShare);
}

}  // namespace

Result<Seconds> speech_in(const SampleReader& recording, const OnDecoded& on_audio_decoded) {
  return measure_speech(recording, on_audio_decoded, [](Seconds, Seconds) { return false; });
}

Result<bool> has_speech(const SampleReader& recording, const OnDecoded& on_audio_decoded) {
  bool found = false;
  TRY(measure_speech(recording, on_audio_decoded,
                     [&](Seconds speech, Seconds all) { return found = is_speech(speech, all); }));
  return found;
}

}  // namespace tutti
