#include "transcript/chunk.h"

#include <algorithm>
#include <iterator>

#include "base/try.h"
#include "transcript/prompt.h"

namespace tutti {
namespace {

/// The prompt of every window: the initial prompt, cut as the first window's of a recording.
std::vector<std::int32_t> prompt_of(const LongFormInput& input, const Tokenizer& tokenizer,
                                    const LongFormOptions& options) {
  auto initial = initial_prompt_tokens(tokenizer, options.initial_prompt);
  return PromptHistory(std::move(initial), options.carry_initial_prompt, input.n_text_ctx).next();
}

}  // namespace

ChunkTranscriber::ChunkTranscriber(const LongFormInput& input, const Tokenizer& tokenizer,
                                   const LongFormOptions& options, const std::string& language)
    : frames_per_window_(input.frames_per_window),
      prompt_(prompt_of(input, tokenizer, options)),
      window_{input, tokenizer, options, language} {}

Result<std::vector<Segment>> ChunkTranscriber::transcribe(std::int64_t frames, WindowDecoder& decoder) const {
  std::vector<Segment> segments;
  double last_speech = 0;
  for (std::int64_t seek = 0; seek < frames;) {
    const WindowSpan window{seek, std::min(frames_per_window_, frames - seek)};
    auto window_text = TRY(window_.transcribe(window, prompt_, decoder, {last_speech, frames}));
    last_speech = window_text.speech_end.value_or(last_speech);
    std::move(window_text.segments.begin(), window_text.segments.end(), std::back_inserter(segments));
    seek = window_text.next_seek;
  }
  return segments;
}

}  // namespace tutti
