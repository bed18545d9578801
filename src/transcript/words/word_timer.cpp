#include "transcript/words/word_timer.h"

#include <algorithm>

#include "transcript/words/segment_words.h"

namespace tutti {
namespace {

/// An encoder position covers two; a shorter window has no position for a word.
constexpr std::int64_t kFewestFrames = 2;

Result<void> check(const AlignAnswer& answer, std::size_t tokens, WindowSpan window) {
  const auto& starts = answer.starts;
  if (answer.probabilities.size() != tokens || starts.size() != tokens + 1)
    return fail(Fault::internal, "alignment of " + std::to_string(tokens) +
                                     " tokens: expected as many probabilities and one start more, found " +
                                     std::to_string(answer.probabilities.size()) + " and " +
                                     std::to_string(starts.size()));
  if (!std::is_sorted(starts.begin(), starts.end()) || starts.front() < 0 || 2 * starts.back() > window.frames)
    return fail(Fault::internal, "alignment: expected starts that follow each other in the window's " +
                                     std::to_string(window.frames) + " frames, found others");
  return {};
}

}  // namespace

Result<WordSeek> WordTimer::add_words(std::vector<Segment>& segments, WindowSpan window, const SlicedWindow& sliced,
                                      const AroundWindow& around, WindowDecoder& decoder) const {
  auto words = words_of(segments, window, decoder);
  if (!words) return tl::unexpected(words.error());
  add_word_times(segments, std::move(*words), rules_, tokenizer_.special().eot, around.last_speech);
  const WindowContext context{window, frames_per_window_, sliced.closed, around};
  WordSeek seek = seek_by_words(segments, context, rules_, sliced.next_seek);
  // A window that leads to itself would be decoded for ever.
  if (seek.next_seek <= window.seek) seek.next_seek = window.seek + window.frames;
  return seek;
}

Result<std::vector<TimedWord>> WordTimer::words_of(const std::vector<Segment>& segments, WindowSpan window,
                                                   WindowDecoder& decoder) const {
  AlignRequest request{.sot_sequence = sot_sequence_};
  for (const Segment& segment : segments)
    std::copy_if(segment.tokens.begin(), segment.tokens.end(), std::back_inserter(request.text),
                 [eot = tokenizer_.special().eot](std::int32_t id) { return id < eot; });
  if (request.text.empty()) return std::vector<TimedWord>{};
  if (window.frames < kFewestFrames)
    return timed_words(tokenizer_, request.text,
                       {.starts = std::vector<std::int32_t>(request.text.size() + 1),
                        .probabilities = std::vector<float>(request.text.size())},
                       language_);
  const auto answer = decoder.align(window, request);
  if (!answer) return tl::unexpected(answer.error());
  if (auto fits = check(*answer, request.text.size(), window); !fits) return tl::unexpected(fits.error());
  return timed_words(tokenizer_, request.text, *answer, language_);
}

}  // namespace tutti
