#include "audio/vad/speech_detector.h"

#include <algorithm>
#include <array>
#include <utility>

#include "audio/vad/energy.h"
#include "audio/vad/keying.h"
#include "audio/vad/silero_kernel.h"

namespace tutti {

struct SpeechProbabilities::Method {
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;
  /// Takes whole windows, and adds to `found` what they decide. `last`: the last window has silence at its end, and
  /// nothing follows.
  virtual void take(std::span<const std::int16_t> windows, bool last, std::vector<float>& found) = 0;
};

namespace {

class ByEnergy final : public SpeechProbabilities::Method {
 public:
  void take(std::span<const std::int16_t> windows, bool last, std::vector<float>& found) override {
    for (; !windows.empty(); windows = windows.subspan(kVadWindow)) {
      // Silence that fills up the last one must not become the background of the seconds before.
      const bool is_filled_up = last && windows.size() == kVadWindow;
      levels_.push_back(is_filled_up && !levels_.empty() ? levels_.back() : loudness(windows.first(kVadWindow)));
    }
    const LoudnessOdds odds = probabilities_of_loudness(levels_, released_, last);
    found.insert(found.end(), odds.probabilities.begin(), odds.probabilities.end());
    released_ += odds.probabilities.size();
    levels_.erase(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(odds.no_longer_needed));
    released_ -= odds.no_longer_needed;
  }

 private:
  std::vector<float> levels_{};  // those that what is to come depends on, from the start of a second on
  std::size_t released_ = 0;     // of them have their probabilities
};

class ByKeying final : public SpeechProbabilities::Method {
 public:
  explicit ByKeying(std::optional<double> target) : detector_(target) {}
  void take(std::span<const std::int16_t> windows, bool last, std::vector<float>& found) override {
    detector_.take(windows, last, found);
  }

 private:
  KeyingDetector detector_;
};

class BySilero final : public SpeechProbabilities::Method {
 public:
  void take(std::span<const std::int16_t> windows, bool, std::vector<float>& found) override {
    while (!windows.empty()) {
      const std::size_t size = std::min(windows.size(), kAtOnce);
      std::ranges::copy(windows.first(size), samples_.begin() + kSileroContext);
      kernel_.compute_gates(weights_, samples_.data(), gates_);
      const auto count = size / kVadWindow;
      found.resize(found.size() + count);
      float* const out = found.data() + (found.size() - count);
      kernel_.follow(weights_, gates_, static_cast<int>(count), state_, out);
      std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(size), kSileroContext, samples_.begin());
      windows = windows.subspan(size);
    }
  }

 private:
  static constexpr std::size_t kAtOnce = kSileroWindows * kVadWindow;

  const SileroKernel& kernel_ = silero_kernels().front();
  const SileroWeights& weights_ = silero_weights();
  SileroState state_{};
  SileroGatesOfWindows gates_{};
  std::array<std::int16_t, kSileroSpan> samples_{};  // context first; windows that a call has not are old samples
};

}  // namespace

SpeechProbabilities::SpeechProbabilities(const VadOptions& options) {
  if (options.method == VadMethod::energy)
    method_ = std::make_unique<ByEnergy>();
  else if (options.method == VadMethod::keying)
    method_ = std::make_unique<ByKeying>(options.target_hz);
  else
    method_ = std::make_unique<BySilero>();
}

SpeechProbabilities::~SpeechProbabilities() = default;
SpeechProbabilities::SpeechProbabilities(SpeechProbabilities&&) noexcept = default;
SpeechProbabilities& SpeechProbabilities::operator=(SpeechProbabilities&&) noexcept = default;

std::vector<float> SpeechProbabilities::feed(std::span<const std::int16_t> samples) {
  std::vector<float> found;
  if (!pending_.empty()) {
    pending_.insert(pending_.end(), samples.begin(), samples.end());
    samples = pending_;
  }
  const std::size_t whole = samples.size() / kVadWindow * kVadWindow;
  if (whole > 0) method_->take(samples.first(whole), /*last=*/false, found);
  const auto rest = samples.subspan(whole);
  pending_ = std::vector<std::int16_t>(rest.begin(), rest.end());
  return found;
}

std::vector<float> SpeechProbabilities::finish() {
  std::vector<float> found;
  pending_.resize(kVadWindow);
  method_->take(pending_, /*last=*/true, found);
  pending_.clear();
  return found;
}

std::vector<SpeechPiece> SpeechDetector::finish() {
  auto pieces = scan_.feed(probabilities_.finish());
  for (SpeechPiece& piece : pieces) piece.end = std::min(samples_, piece.end);
  const auto rest = scan_.finish(samples_);
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  return pieces;
}

}  // namespace tutti
