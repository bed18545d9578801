#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "audio/vad/speech.h"
#include "audio/vad/vad_options.h"

namespace tutti {

/// Speech probabilities of audio as it comes: the same, bit for bit, however it is divided into calls. One thread.
class SpeechProbabilities {
 public:
  /// Of the options, method and target count.
  explicit SpeechProbabilities(const VadOptions& options);
  ~SpeechProbabilities();
  SpeechProbabilities(SpeechProbabilities&&) noexcept;
  SpeechProbabilities& operator=(SpeechProbabilities&&) noexcept;

  /// Those that `samples`, the next ones, decide, in order: of windows that are whole. By energy they come ten seconds
  /// later, because a window's background is also what follows it; by keying within two seconds.
  std::vector<float> feed(std::span<const std::int16_t> samples);
  /// The rest, at the recording's end: its last window goes on as silence. Nothing may follow.
  std::vector<float> finish();

  struct Method;  // how a window's probability is found

 private:
  std::unique_ptr<Method> method_;
  std::vector<std::int16_t> pending_{};  // of a window that is not whole
};

/// The rules of speech_pieces over probabilities as they come. Its memory does not grow with the recording. One thread.
class SpeechPieceScan {
 public:
  /// `options` pass check().
  explicit SpeechPieceScan(const VadOptions& options);

  /// The pieces whose padded ends `probabilities`, the next ones, decide. An end may reach beyond a recording that
  /// ends within a window.
  std::vector<SpeechPiece> feed(std::span<const float> probabilities);
  /// The rest of a recording of `samples` samples.
  std::vector<SpeechPiece> finish(std::int64_t samples);

  /// Where the speech begins that goes on now, with its padding; none: there is none at the moment.
  std::optional<std::int64_t> open_start() const;
  /// Where the silence began that lasts until now, without padding; none: the last window was speech.
  std::optional<std::int64_t> silent_since() const;
  /// Where the first piece begins that feed has not returned yet; none: there is none so far.
  std::optional<std::int64_t> undecided_start() const {
    return ended_.empty() ? open_start() : std::optional(ended_.front().start);
  }

 private:
  /// The options in samples and as the comparisons need them.
  struct Limits {
    explicit Limits(const VadOptions& options);
    float speech, silence;
    std::int64_t min_speech, min_silence, pad;
    double max_speech;
  };

  float probability(std::int64_t window) const { return recent_[static_cast<std::size_t>(window - first_)]; }
  bool is_rest() const;
  bool is_kept(std::int64_t end) const;
  void advance();
  bool shorten();
  void cut_where_least_like_speech();
  void pause(std::int64_t here);
  void end_piece(SpeechPiece piece);
  void forget_pauses() { pause_ = last_pause_ = resumed_ = 0; }
  std::int64_t kept_of(std::int64_t silence) const;
  void release_decided(std::vector<SpeechPiece>& out);

  Limits limits_;
  std::deque<float> recent_{};               // probabilities that may be looked at again
  std::int64_t first_ = 0;                   // window of the first of them
  std::int64_t at_ = 0;                      // window to be looked at next
  std::deque<SpeechPiece> ended_{};          // without padding at their ends
  std::optional<SpeechPiece> last_ended_{};  // the last piece, without any padding
  bool in_speech_ = false;
  // Samples; 0 means that there is none.
  std::int64_t start_ = 0;
  std::int64_t pause_ = 0;       // where the silence began that we may be in
  std::int64_t last_pause_ = 0;  // where the last silence began that was long enough to be cut at
  std::int64_t resumed_ = 0;     // where speech went on after it
};

/// Finds speech in a recording as it comes: what find_speech finds in the whole of it, bit for bit. One thread.
class SpeechDetector {
 public:
  /// `options` pass check().
  explicit SpeechDetector(const VadOptions& options) : probabilities_(options), scan_(options) {}

  /// The pieces that `samples`, the next ones, complete: their ends, padding included, are decided.
  std::vector<SpeechPiece> feed(std::span<const std::int16_t> samples) {
    samples_ += std::ssize(samples);
    return scan_.feed(probabilities_.feed(samples));
  }
  /// The rest, at the recording's end. Nothing may follow.
  std::vector<SpeechPiece> finish();

  /// As of SpeechPieceScan, by the samples up to now.
  std::optional<std::int64_t> open_start() const { return scan_.open_start(); }
  std::optional<std::int64_t> silent_since() const { return scan_.silent_since(); }

 private:
  SpeechProbabilities probabilities_;
  SpeechPieceScan scan_;
  std::int64_t samples_ = 0;
};

}  // namespace tutti
