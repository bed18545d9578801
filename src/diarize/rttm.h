#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "diarize/speaker_turn.h"

namespace tutti {

// Rich Transcription Time Marked, the form in which NIST, pyannote and others keep who speaks when: a line for each
// turn.

/// The turns of recordings, by the name that RTTM has for each.
using RecordingTurns = std::map<std::string, std::vector<SpeakerTurn>>;

/// Reads RTTM: a line "SPEAKER recording channel start duration <NA> <NA> speaker <NA> <NA>" for each turn, with any
/// white space between its fields. The other types of line that NIST names, comments (;;) and blank lines are passed
/// over, and so is a turn of no length. A recording whose turns all have none is there, without turns.
///
/// Errors name `file` and the line: a number that is none, too few fields, bytes that are no UTF-8.
Result<RecordingTurns> parse_rttm(std::string_view text, std::string_view file);

/// The same of a file. Fault::missing where it is not there.
Result<RecordingTurns> read_rttm(const std::filesystem::path& file);

/// A name as a field of RTTM: white space becomes "_", because a space would end the field; a name without characters
/// becomes "<NA>".
std::string rttm_field(std::string_view name);

/// The turns of one recording as RTTM, in their order, to the millisecond.
/// Read again, starts and ends are those that were written, rounded, and so turns that touch still do.
std::string rttm_text(std::string_view recording, const std::vector<SpeakerTurn>& turns);

}  // namespace tutti
