#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace tutti {

/// A turn: one speaker without a break, [start, end), in seconds from the start of the recording.
struct SpeakerTurn {
  double start = 0;
  double end = 0;
  std::string speaker;

  double duration() const { return end - start; }
  bool operator==(const SpeakerTurn&) const = default;
};

/// Sorts turns by start, then by end, then by the speaker's name: the order in which RTTM files have them.
inline void sort_by_time(std::vector<SpeakerTurn>& turns) {
  std::ranges::sort(turns, {}, [](const SpeakerTurn& turn) { return std::tie(turn.start, turn.end, turn.speaker); });
}

/// The speakers of `turns`, each once, in the order in which they come there first.
inline std::vector<std::string> speakers_of(const std::vector<SpeakerTurn>& turns) {
  std::vector<std::string> names;
  for (const auto& turn : turns)
    if (std::ranges::find(names, turn.speaker) == names.end()) names.push_back(turn.speaker);
  return names;
}

}  // namespace tutti
