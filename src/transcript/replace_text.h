#pragma once

#include <cstddef>
#include <vector>

#include "text/replacement_list.h"
#include "transcript/transcript.h"

namespace tutti {

// Texts that a model spells wrong are written otherwise when a segment is whole, before any format is made of it, so
// that all formats are alike. Words keep their times:
//   * A text of as many words as the old one gives each old word one of its own. "jon smyth" becomes "John", "Smith".
//   * Of a text of fewer words, the last has the time of all old words that are left. "ChatGPT" for "chat g p t" is one
//     word from the start of "chat" to the end of "t".
//   * Of a text of more words, the last old word holds the rest, with spaces in it. "New York" for "newyork" is one
//   word
//     with the time of the old one.
// Signs beside a text stay with its first and its last word. Tokens stay those of the model. A text is found within one
// segment, and so within the words of one speaker.

/// Replaces texts in a segment and in its words alike; returns how many in the text.
std::size_t replace_text(Segment& segment, const ReplacementList& list);

/// The same of every segment and of the whole text, which stays that of all segments in a row where it was.
std::size_t replace_text(Transcript& transcript, const ReplacementList& list);

/// The segments with texts replaced, for those that see them before the transcript is whole: on a terminal, as events,
/// in the answer of a service. They are the same that the transcript has later. `list` may be null: then they are as
/// they were.
std::vector<Segment> with_replacements(std::vector<Segment> segments, const ReplacementList* list);

}  // namespace tutti
