#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "diarize/rttm.h"
#include "diarize/speaker_turn.h"

namespace tutti {

/// What of a recording is scored.
struct DiarizationScoring {
  double collar = 0;          // seconds left out on either side of each boundary of the reference; 0: none
  bool skip_overlap = false;  // leave out where turns of the reference overlap
};

/// Seconds that were scored, where two speakers at once count twice, as pyannote.metrics counts them.
struct DiarizationErrors {
  double total = 0;        // speech of the reference
  double missed = 0;       // speech without a speaker in the hypothesis
  double false_alarm = 0;  // speech of the hypothesis where the reference has none
  double confusion = 0;    // another speaker, under the best mapping of speakers
  std::size_t reference_speakers = 0;
  std::size_t hypothesis_speakers = 0;

  /// The diarization error rate (DER). Without speech in the reference, 1 where the hypothesis has some, else 0.
  double rate() const;
  DiarizationErrors& operator+=(const DiarizationErrors& other);
};

/// Compares the turns of one recording with its reference under the mapping of speakers, one to one, that has most
/// seconds in common.
DiarizationErrors diarization_errors(const std::vector<SpeakerTurn>& reference,
                                     const std::vector<SpeakerTurn>& hypothesis,
                                     const DiarizationScoring& scoring = {});

/// Compares every recording of the reference, by its name; one that the hypothesis lacks is missed as a whole. Where
/// both have one recording, their names may differ. Fault::usage for one that only the hypothesis has.
Result<std::map<std::string, DiarizationErrors>> diarization_errors(const RecordingTurns& reference,
                                                                    const RecordingTurns& hypothesis,
                                                                    const DiarizationScoring& scoring = {});

}  // namespace tutti
