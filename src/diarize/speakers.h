#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diarize/clustering.h"
#include "diarize/diarize_options.h"
#include "diarize/speaker_pieces.h"
#include "diarize/speaker_turn.h"
#include "diarize/speech_activity.h"

namespace tutti {

/// Who speaks in a recording.
struct FoundSpeakers {
  std::vector<SpeakerTurn> turns{};        // by time; of two voices at once, both
  std::vector<SpeakerSummary> speakers{};  // in the order of their first turns
  double device_seconds = 0;               // that devices worked for it
  Vectors voices{};                        // of each speaker, of length 1; none where speech was too short for any
};

/// What a known speaker's voice is.
struct KnownVoice {
  std::string name{};
  std::vector<float> voice{};  // of length 1
};

/// Groups pieces by voice, follows the speakers through the frames of speech, and names them.
/// voices: of the pieces, of length 1, in their order. known: names for the speakers whose voices are like theirs. Pure
/// and deterministic.
FoundSpeakers find_speakers(const SpeechActivity& activity, const std::vector<SpeakerPiece>& pieces,
                            const Vectors& voices, const SpeakerCount& count, std::span<const KnownVoice> known = {});

/// Each piece's voice becomes the mean of its own and of those of the pieces beside it that overlap it.
Vectors averaged_with_neighbours(const std::vector<SpeakerPiece>& pieces, const Vectors& voices);

/// "SPEAKER_00", as pyannote and whisperX number speakers.
std::string speaker_label(std::size_t number);

/// Whether a name is such a label: then it cannot be a known speaker's.
bool is_speaker_label(std::string_view name);

}  // namespace tutti
