#include "transcript/long_form.h"

#include <algorithm>

#include "base/try.h"
#include "transcript/clips.h"
#include "transcript/prompt.h"
#include "transcript/window_transcriber.h"

namespace tutti {
namespace {

/// Above this temperature a text is too wild to lead the next window.
constexpr double kTrustedTemperature = 0.5;

/// What the loop carries from window to window.
class LongFormLoop {
 public:
  LongFormLoop(const LongFormInput& input, const Tokenizer& tokenizer, const LongFormOptions& options,
               WindowDecoder& decoder)
      : input_(input),
        tokenizer_(tokenizer),
        options_(options),
        decoder_(decoder),
        history_(initial_prompt_tokens(tokenizer, options.initial_prompt), options.carry_initial_prompt,
                 input.n_text_ctx) {}

  Result<Transcript> run(const OnProgress& on_progress) {
    const auto clips = TRY(clips_from(options_.clip_timestamps, input_.content_frames));
    // A whole window also of a shorter recording: here, unlike in decoding, the reference pads with frames of silence.
    auto language =
        TRY(settle_language(tokenizer_.special(), options_, {input_.first_audio, input_.frames_per_window}, decoder_));
    result_.language = std::move(language);
    const WindowTranscriber transcriber(input_, tokenizer_, options_, result_.language);
    for (const Clip& clip : clips) {
      for (std::int64_t seek = clip.start; seek < clip.end;) {
        const WindowSpan window{seek, std::min(input_.frames_per_window, clip.end - seek)};
        auto window_text =
            TRY(transcriber.transcribe(window, history_.next(), decoder_, {last_speech_, input_.content_frames}));
        take(window_text);
        seek = window_text.next_seek;
        if (on_progress) on_progress(window_text.segments, seek);
      }
    }
    result_.text = tokenizer_.decode(history_.decoded());
    return std::move(result_);
  }

 private:
  /// Numbers the window's segments and adds them to the result and to the prompts of later windows.
  void take(WindowText& window_text) {
    if (window_text.silent) return;
    last_speech_ = window_text.speech_end.value_or(last_speech_);
    for (Segment& segment : window_text.segments) {
      segment.id = static_cast<std::int64_t>(result_.segments.size());
      result_.segments.push_back(segment);
      history_.append(segment.tokens);
    }
    if (!options_.condition_on_previous_text || window_text.temperature > kTrustedTemperature) history_.forget();
  }

  const LongFormInput& input_;
  const Tokenizer& tokenizer_;
  const LongFormOptions& options_;
  WindowDecoder& decoder_;
  PromptHistory history_;
  double last_speech_ = 0;  // where the last word so far ended, seconds
  Transcript result_;
};

}  // namespace

Result<Transcript> transcribe_long_form(const LongFormInput& input, const Tokenizer& tokenizer,
                                        const LongFormOptions& options, WindowDecoder& decoder,
                                        const OnProgress& on_progress) {
  TRY(check_long_form(input, options));
  return LongFormLoop(input, tokenizer, options, decoder).run(on_progress);
}

}  // namespace tutti
