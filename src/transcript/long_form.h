#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "transcript/long_form_options.h"
#include "transcript/transcript.h"

namespace tutti {

/// The part of the recording a window shows: mel frames [seek, seek + frames), 100 a second.
struct WindowSpan {
  std::int64_t seek = 0;
  std::int64_t frames = 0;
};

/// A request for one decoding of one window.
struct DecodeRequest {
  std::vector<std::int32_t> prompt{};  // [sot_prev + previous text] + sot sequence [+ no_timestamps] [+ prefix]
  std::int32_t sot_index = 0;          // where sot is in `prompt`
  double temperature = 0;
  std::int32_t max_tokens = 224;
};

struct DecodeAnswer {
  std::vector<std::int32_t> tokens{};  // sampled, closing end-of-text removed
  double avg_logprob = 0;
  double no_speech_prob = 0;            // NaN where the vocabulary has no such token
  std::vector<float> token_logprobs{};  // by token, where they were requested; one more where the text ended
  bool is_exact = false;                // another temperature would give the same
};

/// A request for the word times of a window that was decoded.
struct AlignRequest {
  std::vector<std::int32_t> sot_sequence{};  // start of transcript, language, task
  std::vector<std::int32_t> text{};          // ids below end-of-text, at least one
};

struct AlignAnswer {
  std::vector<std::int32_t> starts{};  // start of every token of the text and of what follows it, in steps of 0.02 s
  std::vector<float> probabilities{};  // probability of every token of the text
  std::vector<std::int32_t> ends{};    // of every token, where they are known exactly; empty: where the next begins
};

/// The model as the long-form loop sees it: whole windows, synchronous calls. Implemented over a worker process, and by
/// scripts in tests. Calls come from one thread; a window may be decoded several times (fallback) before the next is
/// named.
class WindowDecoder {
 public:
  virtual ~WindowDecoder() = default;
  /// Code of the most probable language of `window`: always a whole window, so past the end of a short recording it
  /// shows frames of silence (log-mel of zeros), where `decode` gets zeros after the clamp.
  virtual Result<std::string> detect_language(WindowSpan window) = 0;
  /// The beginning of `window` that is to be decoded at once, before it is: all of it, or what the decoder can follow.
  virtual Result<WindowSpan> fitting(WindowSpan window) { return window; }
  /// One decoding of `window`, which never reaches past the recording; what is missing to a whole window are zeros.
  virtual Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) = 0;
  /// Aligns a text with the window it was decoded from. Starts do not decrease and lie in the window.
  virtual Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) = 0;
};

/// What the loop needs to know of model and recording.
struct LongFormInput {
  std::int64_t content_frames = 0;  // mel frames of the recording, padding not counted
  std::int64_t frames_per_window = 3000;
  std::int32_t n_text_ctx = 448;
  std::int64_t first_audio = 0;  // mel frame from which the language is detected: there is none before
};

/// Called after each window with its new segments and the new position in frames.
using OnProgress = std::function<void(const std::vector<Segment>& fresh, std::int64_t seek)>;

/// The reference's sequential long-form loop (openai-whisper 20250625, transcribe.py): seek, fallback, no-speech,
/// previous-text prompts, clip timestamps; docs/decoding.md has the rules. Always ends: within a clip every window
/// starts behind the one before. Stops at the first error of `decoder`; Fault::usage for options that cannot be
/// intended.
Result<Transcript> transcribe_long_form(const LongFormInput& input, const Tokenizer& tokenizer,
                                        const LongFormOptions& options, WindowDecoder& decoder,
                                        const OnProgress& on_progress);

}  // namespace tutti
