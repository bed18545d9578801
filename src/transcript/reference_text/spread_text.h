#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "transcript/transcript.h"

namespace tutti {

/// A sentence with estimated times.
struct SpreadSentence {
  Segment segment{};
  bool is_sure = false;  // half of its words were found at its times; else it is somewhere between sure ones
};

/// Lays `text` over what a model has decoded from the same recording of `seconds`: words that are the same, along a
/// shortest path of edits, have the same time. Sentences with few found words share the time between those that were
/// found. A sentence ends with its line or its full stop; longer ones than 20 words are parted where the longest pauses
/// are. Words are what is between spaces. Pure.
std::vector<SpreadSentence> spread_text(std::string_view text, std::span<const Word> decoded, double seconds);

}  // namespace tutti
