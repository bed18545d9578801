#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/sample_reader.h"
#include "audio/vad/speech.h"
#include "base/units.h"

namespace tutti {

/// Pieces in a row, the silence between them left out.
using PackedPieces = std::vector<SpeechPiece>;

/// Samples that the pieces have together.
std::int64_t samples_of(std::span<const SpeechPiece> pieces);

/// Speech packed into windows of at most `max_samples`: as many whole pieces, in order, as fit (faster-whisper's
/// collect_chunks). A piece that is longer than a window itself is cut at `max_samples` and marked.
std::vector<PackedPieces> pack_windows(std::span<const SpeechPiece> pieces, std::int64_t max_samples);

/// From times in packed speech back to times in the recording (faster-whisper's SpeechTimestampsMap): to a time belongs
/// the silence that was left out before the piece it falls into. Results are rounded to 0.01 s, as there.
class SpeechMap {
 public:
  /// `pieces` in order, at least one.
  explicit SpeechMap(std::span<const SpeechPiece> pieces);

  /// Where something begins: at the border of two pieces, with the later one.
  Seconds start(Seconds packed) const;
  /// Where something ends: exactly at the border of two pieces, with the earlier one.
  Seconds end(Seconds packed) const;

  /// Start and end of a word, both by the piece its middle falls into, so that no word spans a silence.
  struct Span {
    Seconds start{};
    Seconds end{};
  };
  Span word(Seconds packed_start, Seconds packed_end) const;

 private:
  std::size_t piece_at(Seconds packed) const;
  Seconds original(Seconds packed, std::size_t piece) const;

  std::vector<std::int64_t> ends_;       // end of each piece, in packed samples
  std::vector<Seconds> silence_before_;  // left out before each piece
};

/// Packed speech, read like a recording of its own: what LogMel takes for one packed window, and what the sequential
/// loop takes for all speech of a file. Nothing is copied; `recording` must outlive it. Thread-safe.
class PackedRecording final : public SampleReader {
 public:
  /// `pieces` in order; may be empty.
  PackedRecording(const SampleReader& recording, PackedPieces pieces);

  std::int64_t samples() const override;
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override;

 private:
  const SampleReader& recording_;
  PackedPieces pieces_;
  std::vector<std::int64_t> ends_;  // end of each piece, in packed samples
};

}  // namespace tutti
