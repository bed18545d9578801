#pragma once

#include <span>
#include <string>
#include <vector>

namespace tutti {

struct CaptionRules {
  bool parentheses_are_sounds = true;  // (door slams); false: of prose, whose parentheses are read aloud
};

/// The spoken text of captions, whose lines are parted by "\n": without descriptions of sounds in brackets ([APPLAUSE])
/// or between asterisks, without music (between notes, or from a note to the end of its line), without speakers
/// (NARRATOR:, >> JOHN:, [SPEAKER_01]:, Speaker 1:) and signs of a change of speaker (>>, dashes at the start of a
/// line). A label in lower case counts as a speaker where it begins several lines, names a role, has a number, or
/// follows such a sign. One text for each caption, lines joined by "\n"; empty where nothing is spoken. Pure.
std::vector<std::string> spoken_texts(std::span<const std::string> captions, CaptionRules rules = {});

}  // namespace tutti
