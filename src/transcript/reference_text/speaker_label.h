#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace tutti {

/// What begins a line and may name who speaks: "PRESIDENT KENNEDY" of "PRESIDENT KENNEDY: And so".
struct SpeakerLabel {
  std::u32string_view name{};
  std::size_t size = 0;  // with its colon
};

/// The label of a line without space in front; its name is empty where there is none.
SpeakerLabel label_of(std::u32string_view line);

/// What is known of the captions that a label is one of.
struct LabelContext {
  std::map<std::u32string, int> counts{};  // of lines that begin with a label, by its name in lower case
  bool all_capitals = false;               // the text is in capitals, as a rule
};

/// Whether a label names a speaker; `is_turn`: a sign before it marks a change of speaker.
bool names_speaker(std::u32string_view name, bool is_turn, const LabelContext& context);

}  // namespace tutti
