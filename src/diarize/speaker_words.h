#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Text of one speaker from `start` on, seconds from the start of the recording.
struct SpeakerText {
  double start = 0;
  std::string speaker{};
  std::string text{};
};

/// Reads the texts of speakers: a transcript's JSON, of Tutti, whisperX or others, with "speaker" in its segments or in
/// their words; or an object with "turns" that have "speaker", "start" and "text". Errors name `file` and the path in
/// it: a text without speaker, a turn without text.
Result<std::vector<SpeakerText>> read_speaker_texts(const std::string& json, std::string_view file);

/// Words of a transcript that are wrong, or that another speaker has.
struct SpeakerWordErrors {
  std::int64_t words = 0;        // of the reference
  std::int64_t word_errors = 0;  // under the best pairing of speakers, each with all words in a row
  std::int64_t aligned = 0;      // words of the reference that a word of the hypothesis belongs to
  std::int64_t misplaced = 0;    // words of `aligned` whose word another speaker has
  std::size_t reference_speakers = 0;
  std::size_t hypothesis_speakers = 0;

  /// The concatenated minimum-permutation word error rate (cpWER), as meeteval counts it.
  double cp_wer() const;
  /// The word diarization error rate (WDER): misplaced words of those aligned.
  double wder() const;
};

/// Compares the texts of a recording's speakers with the reference. Texts are compared word by word as they are:
/// normalise before. Each side's texts count in the order of their starts.
///
/// For WDER all words of the reference are aligned with all of the hypothesis along a shortest path of edits; speakers
/// are paired so that most aligned words agree.
SpeakerWordErrors speaker_word_errors(std::span<const SpeakerText> reference, std::span<const SpeakerText> hypothesis);

}  // namespace tutti
