#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {

// Other names for the speakers of a recording, in the outputs that are there already. All of it is pure.

/// The new names of speakers, by the names that they have.
using SpeakerNames = std::map<std::string, std::string>;

/// Whether outputs can have that name in them: UTF-8 in one line, without blanks around it.
bool is_speaker_name(std::string_view name);

/// The speakers of a transcript, each once, in the order of their first segments.
std::vector<std::string> speakers_of(const Transcript& transcript);

/// Fault::usage where a name to be changed is no speaker's, or a new one would be that of two. Two speakers may change
/// names with each other.
Result<void> check_speaker_names(const SpeakerNames& names, const std::vector<std::string>& speakers);

/// An output file with the new names, and otherwise byte for byte as it was: in txt, srt and vtt the speaker in front
/// of a line or cue, in RTTM that of each turn, in JSON each "speaker", in whatever layout. tsv has no speakers.
std::string with_speaker_names(std::string_view content, Format format, const SpeakerNames& names);

/// Whether `content` is an output that Tutti wrote, as far as it shows that itself. A transcript in JSON is, where it
/// has exactly the form that Tutti writes, that of diarized_json included. Others are, where their words, or turns, are
/// those of `transcript`, in any layout. `speakers`: the names that they may have.
bool is_own_output(std::string_view content, Format format, const Transcript& transcript,
                   const std::vector<std::string>& speakers);

}  // namespace tutti
