#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "transcript/transcript.h"

namespace tutti {

/// A text whose times were not known, sentence by sentence.
struct SpreadText {
  std::vector<Segment> segments{};  // with estimated times, in order
  std::vector<Segment> unheard{};   // those of which no word was heard; times are where they would have to be
};

/// Lays `text` over what a model has heard of the same recording: words that are the same, along a shortest path of
/// edits, have the same time, those between them are spread evenly. A sentence ends with its line or its full stop;
/// longer ones than 20 words are parted where the longest pauses are. Words are what stands between spaces. Pure.
SpreadText spread_text(std::string_view text, std::span<const Word> heard);

}  // namespace tutti
