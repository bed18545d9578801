#include <algorithm>

#include "audio/vad/speech.h"

namespace tutti {
namespace {

constexpr std::int64_t kPerMs = kModelRate.value / 1000;
/// Windows before the limit among which a too long piece is cut: 5 s.
constexpr std::int64_t kCutAmong = 5 * kModelRate.value / kVadWindow;
/// Silence longer than this is one to cut a too long piece in.
constexpr std::int64_t kCuttableSilence = 98 * kPerMs;
/// Pieces are not cut shorter than this, whatever the limit: every cut must lead onwards.
constexpr double kLeastCut = 2 * kVadWindow;

/// The options in samples and as the comparisons need them.
struct Limits {
  explicit Limits(const VadOptions& options)
      : speech(static_cast<float>(options.threshold)),
        silence(static_cast<float>(options.neg_threshold.value_or(std::max(options.threshold - 0.15, 0.01)))),
        min_speech(options.min_speech_duration_ms * kPerMs),
        min_silence(options.min_silence_duration_ms * kPerMs),
        pad(options.speech_pad_ms * kPerMs),
        max_speech(std::max<double>(
            kModelRate.value * options.max_speech_duration_s - kVadWindow - 2 * static_cast<double>(pad), kLeastCut)) {}

  float speech, silence;
  std::int64_t min_speech, min_silence, pad;
  double max_speech;
};

/// One pass over the probabilities, before padding. Positions are samples; 0 in a position means that there is none.
class Scan {
 public:
  Scan(std::span<const float> probabilities, const Limits& limits) : probabilities_(probabilities), limits_(limits) {}

  std::vector<SpeechPiece> run(std::int64_t samples) {
    for (at_ = 0; at_ < std::ssize(probabilities_); ++at_) advance();
    if (in_speech_ && is_kept(samples)) pieces_.push_back({.start = start_, .end = samples});
    return std::move(pieces_);
  }

 private:
  float probability(std::int64_t window) const { return probabilities_[static_cast<std::size_t>(window)]; }

  /// A piece that would end here. The rest of one that had to be cut is the end of longer speech, however short.
  bool is_kept(std::int64_t end) const {
    const bool is_rest = !pieces_.empty() && pieces_.back().forced_cut && pieces_.back().end == start_;
    return end - start_ > (is_rest ? 0 : limits_.min_speech);
  }

  void advance() {
    const std::int64_t here = at_ * kVadWindow;
    const float likely = probability(at_);
    if (likely >= limits_.speech) {
      if (pause_ && resumed_ < last_pause_) resumed_ = here;
      pause_ = 0;
      if (!in_speech_) {
        in_speech_ = true;
        start_ = here;
        return;
      }
    }
    if (!in_speech_) return;
    if (static_cast<double>(here - start_) > limits_.max_speech && !shorten()) return;
    if (in_speech_ && likely < limits_.silence) pause(here);
  }

  /// A piece has grown too long. False: go on behind the window that at_ now names.
  bool shorten() {
    if (!last_pause_) {
      cut_where_least_like_speech();
      return false;
    }
    pieces_.push_back({.start = start_, .end = last_pause_});
    in_speech_ = resumed_ >= last_pause_;
    start_ = resumed_;
    forget_pauses();
    return true;
  }

  void cut_where_least_like_speech() {
    const std::int64_t first = std::max(start_ / kVadWindow + 1, at_ - kCutAmong);
    std::int64_t least = at_ - 1;
    for (std::int64_t window = least; window >= first; --window)
      if (probability(window) < probability(least)) least = window;
    const std::int64_t cut = least * kVadWindow + kVadWindow / 2;
    pieces_.push_back({.start = start_, .end = cut, .forced_cut = true});
    start_ = cut;
    forget_pauses();
    at_ = least;
  }

  void pause(std::int64_t here) {
    if (!pause_) pause_ = here;
    if (here - pause_ > kCuttableSilence) last_pause_ = pause_;
    if (here - pause_ < limits_.min_silence) return;
    if (is_kept(pause_)) pieces_.push_back({.start = start_, .end = pause_});
    in_speech_ = false;
    forget_pauses();
  }

  void forget_pauses() { pause_ = last_pause_ = resumed_ = 0; }

  const std::span<const float> probabilities_;
  const Limits& limits_;
  std::int64_t at_ = 0;
  std::vector<SpeechPiece> pieces_{};
  bool in_speech_ = false;
  std::int64_t start_ = 0;
  std::int64_t pause_ = 0;       // where the silence began that we may be in
  std::int64_t last_pause_ = 0;  // where the last silence began that was long enough to be cut at
  std::int64_t resumed_ = 0;     // where speech went on after it
};

/// Grows the pieces by the padding, or to the middle of the silence between them.
void pad(std::vector<SpeechPiece>& pieces, std::int64_t samples, std::int64_t padding) {
  if (pieces.empty()) return;
  pieces.front().start = std::max<std::int64_t>(0, pieces.front().start - padding);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    SpeechPiece &before = pieces[i - 1], &after = pieces[i];
    const std::int64_t silence = after.start - before.end;
    const std::int64_t kept = silence < 2 * padding ? silence / 2 : padding;
    before.end = std::min(samples, before.end + kept);
    after.start -= kept;
  }
  pieces.back().end = std::min(samples, pieces.back().end + padding);
}

}  // namespace

std::vector<SpeechPiece> speech_pieces(std::span<const float> probabilities, std::int64_t samples,
                                       const VadOptions& options) {
  const Limits limits(options);
  auto pieces = Scan(probabilities, limits).run(samples);
  pad(pieces, samples, limits.pad);
  return pieces;
}

}  // namespace tutti
