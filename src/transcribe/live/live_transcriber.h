#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/vad/speech_detector.h"
#include "text/tokenizer.h"
#include "text/word_split.h"
#include "transcribe/live/captions.h"
#include "transcribe/live/growing_recording.h"
#include "transcribe/live/live_reader.h"
#include "transcribe/live/running_mel.h"
#include "transcript/long_form.h"
#include "transcript/prompt.h"
#include "transcript/prompt_frame.h"

namespace tutti {

/// Audio as it comes to text as it is spoken (docs/live.md): the open part of the speech is read again and again, and
/// its text is fixed where two readings agree or the speech pauses. A reading gets the fixed text of its window as the
/// beginning of its answer, so that none can change it. One thread.
class LiveTranscriber final : public LiveReader {
 public:
  /// `vad` passes check().
  LiveTranscriber(LiveModel model, const VadOptions& vad, CaptionListener& listener);

  void take(std::span<const std::int16_t> pcm) override;
  void end() override;
  Result<void> advance(Seconds more) override;
  Result<void> settle() override;

  /// Seconds from the start up to which audio was taken.
  Seconds taken() const { return length_of(recording_.samples(), kModelRate); }
  std::int64_t readings() const override { return readings_; }

 private:
  /// Speech that is to be read.
  struct Stretch {
    std::int64_t start = 0, end = 0;  // samples
    bool complete = false;            // speech ends there
  };
  /// A word of a reading.
  struct ReadWord {
    SpelledWord spelled{};
    double start = 0, end = 0;  // seconds from the start of the audio
    WordScore score{};
  };
  /// Which of its words a reading fixes.
  enum class Fixing { agreed, all_but_tail, all };

  std::optional<Stretch> stretch() const;
  void open_window(std::int64_t start);
  void close_window(std::int64_t end);
  /// Does what is due first. False: nothing is.
  Result<bool> advance_once(const Stretch& stretch, Seconds more);
  Result<void> settle_at(std::int64_t end);
  Result<void> read(std::int64_t end, Fixing fixing);
  Result<std::vector<std::int32_t>> decode(WindowSpan window, WindowDecoder& decoder, bool tries_again);
  Result<std::vector<ReadWord>> words_of(std::span<const std::int32_t> tokens, WindowSpan window,
                                         WindowDecoder& decoder);
  std::int64_t text_end() const;
  void fix(std::size_t words, std::int64_t end);
  void report_partial(std::int64_t end);
  void cut_window(std::int64_t end);

  LiveModel model_;
  CaptionListener& listener_;
  GrowingRecording recording_{};
  SpeechDetector detector_;
  RunningMel mels_;
  std::deque<SpeechPiece> pieces_{};  // that are complete, and not transcribed
  std::int64_t spoken_until_ = 0;     // the end of the last speech, without padding
  bool ended_ = false;

  PromptHistory history_;
  std::string language_{};  // empty: not known yet
  std::optional<PromptFrame> prompt_{};

  // The window that is open.
  std::optional<std::int64_t> seek_{};  // its first mel frame; none: there is no window
  std::vector<ReadWord> fixed_{};       // words in it that are fixed
  std::vector<ReadWord> open_{};        // those of the last reading behind them
  std::int64_t piece_start_ = 0;        // of the speech that it is of
  std::int64_t read_until_ = 0;         // samples before it were read
  std::int64_t settled_until_ = 0;      // all text before it is fixed
  std::int64_t done_until_ = 0;         // no window begins before it
  double last_temperature_ = 0, last_no_speech_prob_ = 0;

  std::int64_t readings_ = 0;
  std::int64_t next_id_ = 0;
  double last_end_ = 0;  // of the last final caption
  bool shows_partial_ = false;
  bool is_speaking_ = false;  // speech has begun since the last settlement
};

}  // namespace tutti
