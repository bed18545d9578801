#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/word_split.h"
#include "transcript/transcript.h"

namespace tutti {

/// How sure a word is: the sum of its tokens' log-probabilities.
struct WordScore {
  double logprob = 0;
  std::int64_t tokens = 0;
};

/// A stretch of live text. Texts of all final captions in a row are the transcript; each brings the space before its
/// first word along, where there is one.
struct Caption {
  std::int64_t id = 0;  // from 0 on, in order; the partial captions of an id come before its final one
  double start = 0;     // seconds from the start of the audio
  double end = 0;
  std::string text{};
  std::vector<Word> words{};  // of a final caption
  // Of a final caption, by the reading that fixed it:
  std::vector<WordScore> scores{};  // of `words`; empty: not known
  double temperature = 0;
  double no_speech_prob = 0;
};

/// Receives what becomes of live audio. Calls come from one thread, in the order of the audio.
class CaptionListener {
 public:
  virtual ~CaptionListener() = default;
  /// Speech begins there, seconds from the start.
  virtual void on_speech_started(double /*at*/) {}
  /// Text that may still change. It replaces the partial caption before, and has the id of the next final one; without
  /// text, nothing is left of it.
  virtual void on_partial(const Caption& caption) = 0;
  /// Text that is fixed: it never changes, and is not reported again.
  virtual void on_final(const Caption& caption) = 0;
  /// Speech has paused, or (`is_requested`) a settlement was requested: all text up to there is fixed. Seconds from the
  /// start.
  virtual void on_settled(double /*at*/, bool /*is_requested*/) {}
  /// The last call: all text is final, or why there is no more. Fault::cancelled: it was cancelled.
  virtual void on_end(const Result<void>& end) = 0;
};

/// Whether it is a word of signs alone.
bool is_punctuation(std::string_view word);

/// Whether a text ends as a sentence does.
bool ends_sentence(std::string_view text);

// LocalAgreement-2: audio that grows is read again and again. A word that two readings in a row have, behind nothing
// but words that both have, will hardly change: it can be fixed.

/// How many words of `latest`, from the first on, two readings of growing audio agree on: they are the same in both but
/// for capitals and signs.
/// * Signs between agreed words are those of `latest`.
/// * Signs at the very end of `latest` do not count: more audio often shows that the sentence goes on.
/// * An opening sign goes with the word behind it.
std::size_t agreed_words(std::span<const SpelledWord> earlier, std::span<const SpelledWord> latest);

/// Final captions as segments of a transcript: a subtitle's length each, cut where a sentence ends, the speaker pauses
/// or it would grow too long. Their log-probability is the mean of their tokens'. One thread.
class CaptionSegments {
 public:
  /// Returns the segments that are complete with it.
  std::vector<Segment> add(const Caption& caption);
  /// Speech has paused: the segment that is open, if any, is complete.
  std::vector<Segment> pause();

  /// All text so far; the segment that is open is the last.
  Transcript transcript(const std::string& language) const;

 private:
  void complete(std::vector<Segment>& out);

  std::vector<Segment> segments_{};
  Segment open_{};
  WordScore score_{};  // of the open one
};

}  // namespace tutti
