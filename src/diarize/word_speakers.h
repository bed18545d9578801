#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diarize/speaker_turn.h"
#include "transcript/transcript.h"

namespace tutti {

// Where speakers' turns and a transcript come together. All of it is pure.

/// Bytes of a token's text; empty for timestamps.
using TokenBytes = std::function<std::string_view(std::int32_t token)>;

/// The speaker with the largest overlap with [start, end); where none overlaps, the nearest in time. Without turns,
/// SPEAKER_00: every word has a speaker.
std::string speaker_at(const std::vector<SpeakerTurn>& turns, double start, double end);

/// A word is never split, whatever the turns are: its largest part decides.
/// Smoothing over a sentence would do harm: a recogniser's sentence often runs over the end of a turn.
///
/// Gives every segment its speaker. One with word times is split where the speaker of its words changes, and its tokens
/// with it. The segments are numbered again.
void assign_speakers(Transcript& transcript, const std::vector<SpeakerTurn>& turns, const TokenBytes& bytes_of);

/// What RTTM can be made of where a transcript is all there is.
/// The turns that a transcript with speakers has: its segments, those of one speaker in a row joined where they touch.
std::vector<SpeakerTurn> turns_of(const Transcript& transcript);

}  // namespace tutti
