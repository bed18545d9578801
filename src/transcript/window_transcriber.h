#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "transcript/fallback.h"
#include "transcript/long_form.h"
#include "transcript/prompt_frame.h"
#include "transcript/slices.h"
#include "transcript/word_times.h"

namespace tutti {

/// One window, decoded well enough or as often as allowed.
struct WindowDecoding {
  std::vector<std::int32_t> tokens{};
  WindowScores scores{};
  double temperature = 0;
  std::vector<float> token_logprobs{};  // as DecodeAnswer's
};

/// The text of one window.
struct WindowText {
  std::vector<Segment> segments{};     // in order, `id` left to the caller; none in a silent window
  std::int64_t next_seek = 0;          // frame to go on at; always behind the window's start
  double temperature = 0;              // temperature of the decoding that was kept
  bool silent = false;                 // taken for silence, whatever the text claimed
  std::optional<double> speech_end{};  // with word times: where the last word ended, seconds in the recording
};

/// The rules for one window by itself, shared by every way through a file: prompt, fallback, silence, slices, word
/// times, clearing (docs/decoding.md). Knows neither the windows around it nor where they come from. Const, so
/// thread-safe where the decoder is; borrows what it is given.
class WindowTranscriber {
 public:
  /// `language`: a code that the model knows, as `settle_language` gives it.
  WindowTranscriber(const LongFormInput& input, const Tokenizer& tokenizer, const LongFormOptions& options,
                    const std::string& language);

  /// Decodes `offered` by the rules, or as much of its beginning as the decoder takes; `previous`: text that leads the
  /// prompt, as tokens; `around`: for word times alone.
  /// With a hallucination-silence threshold, segments that look invented are left out, and `next_seek` is where to
  /// decode them again. Fault::usage where the prefix leaves no positions for an answer.
  Result<WindowText> transcribe(WindowSpan offered, std::span<const std::int32_t> previous, WindowDecoder& decoder,
                                const AroundWindow& around = {}) const;

 private:
  Result<WindowDecoding> decode_with_fallback(WindowSpan window, DecodeRequest request, WindowDecoder& decoder) const;
  Segment segment(const Slice& slice, WindowSpan window, const WindowDecoding& decoding) const;
  std::vector<TextToken> text_tokens(const Slice& slice, const WindowDecoding& decoding) const;

  const Tokenizer& tokenizer_;
  const LongFormOptions& options_;
  const PromptFrame prompt_;
  std::optional<WordTimer> words_{};
};

/// Fault::usage or Fault::unsupported for options or a model that no way through a file can work with.
Result<void> check_long_form(const LongFormInput& input, const LongFormOptions& options);

/// The language of a whole recording: given, English where the model knows no other, or detected in `first`, which
/// names a whole window. Fault::usage for one that the model does not know.
Result<std::string> settle_language(const SpecialTokens& special, const LongFormOptions& options, WindowSpan first,
                                    WindowDecoder& decoder);

}  // namespace tutti
