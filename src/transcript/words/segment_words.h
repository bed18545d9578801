#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transcript/transcript.h"
#include "transcript/words/timed_words.h"
#include "transcript/words/word_rules.h"

namespace tutti {

/// Gives the segments of one window, which `words` were aligned for, their words, and moves the segments' edges to them
/// (openai-whisper 20250625, timing.py, add_word_timestamps). Words much longer than the median, which are pauses taken
/// for speech, are cut at sentence ends and beside long silence. Word times are rounded to 0.01 s. `eot`: ids below it
/// are text. `last_speech`: where the last word of earlier windows ended, seconds.
void add_word_times(std::span<Segment> segments, std::vector<TimedWord> words, const WordRules& rules, std::int32_t eot,
                    double last_speech);

/// Where the last word ends; without words, where the last segment does; none without segments. Seconds.
std::optional<double> speech_end(std::span<const Segment> segments);

}  // namespace tutti
