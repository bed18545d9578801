#include <algorithm>
#include <utility>

#include "audio/vad/speech_detector.h"

namespace tutti {
namespace {

constexpr std::int64_t kPerMs = kModelRate.value / 1000;
/// Windows before the limit among which a too long piece is cut: 5 s.
constexpr std::int64_t kCutAmong = 5 * kModelRate.value / kVadWindow;
/// Silence longer than this is one to cut a too long piece in.
constexpr std::int64_t kCuttableSilence = 98 * kPerMs;
/// Pieces are not cut shorter than this, whatever the limit: every cut must lead onwards.
constexpr double kLeastCut = 2 * kVadWindow;

}  // namespace

SpeechPieceScan::Limits::Limits(const VadOptions& options)
    : speech(static_cast<float>(options.threshold)),
      silence(static_cast<float>(options.neg_threshold.value_or(std::max(options.threshold - 0.15, 0.01)))),
      min_speech(options.min_speech_duration_ms * kPerMs),
      min_silence(options.min_silence_duration_ms * kPerMs),
      pad(options.speech_pad_ms * kPerMs),
      max_speech(std::max<double>(
          kModelRate.value * options.max_speech_duration_s - kVadWindow - 2 * static_cast<double>(pad), kLeastCut)) {}

SpeechPieceScan::SpeechPieceScan(const VadOptions& options) : limits_(options) {}

std::vector<SpeechPiece> SpeechPieceScan::feed(std::span<const float> probabilities) {
  std::vector<SpeechPiece> decided;
  for (const float probability : probabilities) {
    recent_.push_back(probability);
    for (; at_ < first_ + std::ssize(recent_); ++at_) advance();
    while (first_ < at_ - kCutAmong - 1) {
      recent_.pop_front();
      ++first_;
    }
    release_decided(decided);
  }
  return decided;
}

std::vector<SpeechPiece> SpeechPieceScan::finish(std::int64_t samples) {
  if (in_speech_ && is_kept(samples)) end_piece({.start = start_, .end = samples});
  in_speech_ = false;
  std::vector<SpeechPiece> rest;
  release_decided(rest);
  for (; !ended_.empty(); ended_.pop_front()) {
    rest.push_back(ended_.front());
    rest.back().end += limits_.pad;
  }
  for (SpeechPiece& piece : rest) piece.end = std::min(samples, piece.end);
  return rest;
}

std::optional<std::int64_t> SpeechPieceScan::open_start() const {
  if (!in_speech_) return std::nullopt;
  const std::int64_t silence = last_ended_ ? start_ - last_ended_->end : start_ + limits_.pad;
  return std::max<std::int64_t>(0, start_ - kept_of(silence));
}

std::optional<std::int64_t> SpeechPieceScan::silent_since() const {
  if (in_speech_) return pause_ ? std::optional(pause_) : std::nullopt;
  return last_ended_ ? last_ended_->end : 0;
}

/// Whether the piece that is open goes on where one had to be cut: it is the end of longer speech, however short.
bool SpeechPieceScan::is_rest() const {
  return last_ended_ && last_ended_->forced_cut && last_ended_->end == start_;
}

/// A piece that would end here.
bool SpeechPieceScan::is_kept(std::int64_t end) const {
  return end - start_ > (is_rest() ? 0 : limits_.min_speech);
}

void SpeechPieceScan::advance() {
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
bool SpeechPieceScan::shorten() {
  if (!last_pause_) {
    cut_where_least_like_speech();
    return false;
  }
  end_piece({.start = start_, .end = last_pause_});
  in_speech_ = resumed_ >= last_pause_;
  start_ = resumed_;
  forget_pauses();
  return true;
}

void SpeechPieceScan::cut_where_least_like_speech() {
  const std::int64_t first = std::max(start_ / kVadWindow + 1, at_ - kCutAmong);
  std::int64_t least = at_ - 1;
  for (std::int64_t window = least; window >= first; --window)
    if (probability(window) < probability(least)) least = window;
  const std::int64_t cut = least * kVadWindow + kVadWindow / 2;
  end_piece({.start = start_, .end = cut, .forced_cut = true});
  start_ = cut;
  forget_pauses();
  at_ = least;
}

void SpeechPieceScan::pause(std::int64_t here) {
  if (!pause_) pause_ = here;
  if (here - pause_ > kCuttableSilence) last_pause_ = pause_;
  if (here - pause_ < limits_.min_silence) return;
  if (is_kept(pause_)) end_piece({.start = start_, .end = pause_});
  in_speech_ = false;
  forget_pauses();
}

/// What a piece grows by beside so much silence: the padding, or half of the silence.
std::int64_t SpeechPieceScan::kept_of(std::int64_t silence) const {
  return silence < 2 * limits_.pad ? silence / 2 : limits_.pad;
}

/// Enters a piece without padding. What is between it and the one before it is known now.
void SpeechPieceScan::end_piece(SpeechPiece piece) {
  SpeechPiece padded = piece;
  if (last_ended_) {
    const std::int64_t kept = kept_of(piece.start - last_ended_->end);
    if (!ended_.empty()) ended_.back().end += kept;
    padded.start -= kept;
  } else {
    padded.start = std::max<std::int64_t>(0, piece.start - limits_.pad);
  }
  last_ended_ = piece;
  ended_.push_back(padded);
}

/// All but the last piece have their ends; so has the last one once any next piece begins far enough behind it.
void SpeechPieceScan::release_decided(std::vector<SpeechPiece>& out) {
  for (; ended_.size() > 1; ended_.pop_front()) out.push_back(ended_.front());
  if (ended_.empty()) return;
  const std::int64_t next = in_speech_ ? start_ : at_ * kVadWindow;  // the earliest that another may begin
  if (next - last_ended_->end < 2 * limits_.pad) return;
  out.push_back(ended_.front());
  out.back().end += limits_.pad;
  ended_.clear();
}

std::vector<SpeechPiece> speech_pieces(std::span<const float> probabilities, std::int64_t samples,
                                       const VadOptions& options) {
  SpeechPieceScan scan(options);
  auto pieces = scan.feed(probabilities);
  for (SpeechPiece& piece : pieces) piece.end = std::min(samples, piece.end);
  const auto rest = scan.finish(samples);
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  return pieces;
}

}  // namespace tutti
