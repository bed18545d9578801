#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/vad/speech_detector.h"
#include "transcribe/live/captions.h"
#include "transcribe/live/growing_recording.h"
#include "transcribe/live/live_reader.h"
#include "transcribe/speech_chunks.h"
#include "transcript/chunk.h"

namespace tutti {

/// Keyed sound as it comes to text (docs/live.md): windows are those of a recording's transcription. Their words are
/// final once a window is whole: it has grown to its full length and is cut in its longest gap, or the station pauses.
/// Until then they are read again and again, and may change. One thread.
class KeyedTranscriber final : public LiveReader {
 public:
  /// `vad` passes check(), and is of keying.
  KeyedTranscriber(LiveModel model, const VadOptions& vad, CaptionListener& listener);

  void take(std::span<const std::int16_t> pcm) override;
  void end() override;
  Result<void> advance(Seconds more) override;
  Result<void> settle() override;
  std::int64_t readings() const override { return readings_; }

 private:
  void add(std::vector<float> probabilities);
  void add(const std::vector<SpeechPiece>& pieces);
  std::optional<SpeechPiece> open_piece() const;
  std::vector<SpeechChunk> chunks_of(std::vector<SpeechPiece> pieces) const;
  bool has_paused() const;
  Result<std::vector<Segment>> read(const SpeechChunk& chunk, bool is_last);
  Result<void> read_last(const SpeechChunk& chunk);
  Result<void> read_open();
  void report(const std::vector<Segment>& segments);
  void show(std::string text, double end);

  LiveModel model_;
  VadOptions vad_;
  CaptionListener& listener_;
  LongFormOptions rules_;       // of what is read for the last time: words have their times
  LongFormOptions open_rules_;  // of what is read again soon
  GrowingRecording recording_{};
  SpeechProbabilities detector_;
  SpeechPieceScan scan_;
  std::vector<float> probabilities_{};  // those that windows are cut by
  std::int64_t forgotten_ = 0;          // of them before those
  std::deque<SpeechPiece> waiting_{};   // pieces that are complete, and whose text is not final
  std::int64_t done_until_ = 0;         // samples: all text before it is final
  std::int64_t read_until_ = 0;         // samples that the last reading saw
  std::string language_{};              // empty: not known yet
  std::int64_t readings_ = 0, next_id_ = 0;
  double last_end_ = 0;  // of the last final caption
  bool shows_partial_ = false, is_speaking_ = false, ended_ = false;
};

}  // namespace tutti
