#include "diarize/error_rate.h"

#include <algorithm>
#include <optional>

#include "diarize/assignment.h"

namespace tutti {
namespace {

using Turns = std::vector<SpeakerTurn>;
using Counts = std::vector<int>;  // turns in progress, by speaker

enum class Side { reference, hypothesis, left_out };

/// Where a turn, or a stretch that is not scored, begins or ends.
struct Boundary {
  double time;
  int change;  // 1: it begins, -1: it ends
  Side side;
  std::size_t speaker = 0;
};

/// What is going on between two neighbouring boundaries.
struct Stretch {
  double seconds;
  const Counts& reference;
  const Counts& hypothesis;
};

class Timeline {
 public:
  Timeline(const Turns& reference, const Turns& hypothesis, const DiarizationScoring& scoring)
      : reference_speakers_(speakers_of(reference)),
        hypothesis_speakers_(speakers_of(hypothesis)),
        skip_overlap_(scoring.skip_overlap) {
    add(reference, Side::reference, reference_speakers_);
    add(hypothesis, Side::hypothesis, hypothesis_speakers_);
    if (scoring.collar > 0)
      for (const auto& turn : reference)
        for (const double at : {turn.start, turn.end}) {
          boundaries_.push_back({at - scoring.collar, 1, Side::left_out});
          boundaries_.push_back({at + scoring.collar, -1, Side::left_out});
        }
    std::ranges::stable_sort(boundaries_, {}, &Boundary::time);
  }

  std::size_t reference_speakers() const { return reference_speakers_.size(); }
  std::size_t hypothesis_speakers() const { return hypothesis_speakers_.size(); }

  /// Shows every stretch that is scored to `visit`, in order.
  template <class Visit>
  void visit_scored(const Visit& visit) const {
    Counts reference(reference_speakers()), hypothesis(hypothesis_speakers());
    int left_out = 0, speaking = 0;  // turns of the reference
    double from = 0;
    for (const auto& boundary : boundaries_) {
      const bool is_scored = left_out == 0 && !(skip_overlap_ && speaking > 1);
      if (is_scored && boundary.time > from) visit(Stretch{boundary.time - from, reference, hypothesis});
      from = boundary.time;
      if (boundary.side == Side::left_out) left_out += boundary.change;
      if (boundary.side == Side::reference) {
        reference[boundary.speaker] += boundary.change;
        speaking += boundary.change;
      }
      if (boundary.side == Side::hypothesis) hypothesis[boundary.speaker] += boundary.change;
    }
  }

 private:
  void add(const Turns& turns, Side side, const std::vector<std::string>& speakers) {
    for (const auto& turn : turns) {
      const auto speaker = static_cast<std::size_t>(std::ranges::find(speakers, turn.speaker) - speakers.begin());
      boundaries_.push_back({turn.start, 1, side, speaker});
      boundaries_.push_back({turn.end, -1, side, speaker});
    }
  }

  const std::vector<std::string> reference_speakers_, hypothesis_speakers_;
  const bool skip_overlap_;
  std::vector<Boundary> boundaries_;
};

int sum(const Counts& counts) {
  int all = 0;
  for (const int count : counts) all += count;
  return all;
}

/// For every speaker of the reference the one of the hypothesis with whom most seconds are in common.
std::vector<std::optional<std::size_t>> best_mapping(const Timeline& timeline) {
  ScoreTable common(timeline.reference_speakers(), timeline.hypothesis_speakers());
  timeline.visit_scored([&](const Stretch& stretch) {
    for (std::size_t r = 0; r < stretch.reference.size(); ++r)
      for (std::size_t h = 0; stretch.reference[r] > 0 && h < stretch.hypothesis.size(); ++h)
        common.at(r, h) += stretch.seconds * stretch.reference[r] * stretch.hypothesis[h];
  });
  auto mapping = best_pairs(common);
  mapping.resize(timeline.reference_speakers());  // without speakers in the hypothesis the table has no rows either
  return mapping;
}

}  // namespace

double DiarizationErrors::rate() const {
  const double errors = missed + false_alarm + confusion;
  if (total > 0) return errors / total;
  return errors > 0 ? 1 : 0;
}

DiarizationErrors& DiarizationErrors::operator+=(const DiarizationErrors& other) {
  total += other.total;
  missed += other.missed;
  false_alarm += other.false_alarm;
  confusion += other.confusion;
  reference_speakers += other.reference_speakers;
  hypothesis_speakers += other.hypothesis_speakers;
  return *this;
}

DiarizationErrors diarization_errors(const Turns& reference, const Turns& hypothesis,
                                     const DiarizationScoring& scoring) {
  const Timeline timeline(reference, hypothesis, scoring);
  const auto mapping = best_mapping(timeline);
  DiarizationErrors errors{.reference_speakers = timeline.reference_speakers(),
                           .hypothesis_speakers = timeline.hypothesis_speakers()};
  timeline.visit_scored([&](const Stretch& stretch) {
    const int true_turns = sum(stretch.reference), found_turns = sum(stretch.hypothesis);
    int right = 0;
    for (std::size_t r = 0; r < mapping.size(); ++r)
      if (mapping[r]) right += std::min(stretch.reference[r], stretch.hypothesis[*mapping[r]]);
    errors.total += stretch.seconds * true_turns;
    errors.missed += stretch.seconds * std::max(0, true_turns - found_turns);
    errors.false_alarm += stretch.seconds * std::max(0, found_turns - true_turns);
    errors.confusion += stretch.seconds * (std::min(true_turns, found_turns) - right);
  });
  return errors;
}

Result<std::map<std::string, DiarizationErrors>> diarization_errors(const RecordingTurns& reference,
                                                                    const RecordingTurns& hypothesis,
                                                                    const DiarizationScoring& scoring) {
  std::map<std::string, DiarizationErrors> errors;
  if (reference.size() == 1 && hypothesis.size() == 1) {
    const auto& [name, turns] = *reference.begin();
    errors[name] = diarization_errors(turns, hypothesis.begin()->second, scoring);
    return errors;
  }
  for (const auto& [name, turns] : hypothesis)
    if (!reference.contains(name))
      return fail(Fault::usage,
                  "recording '" + name + "': expected its turns in the reference, found none of that name",
                  "Name the recordings alike in both files");
  for (const auto& [name, turns] : reference) {
    const auto found = hypothesis.find(name);
    errors[name] = diarization_errors(turns, found == hypothesis.end() ? Turns{} : found->second, scoring);
  }
  return errors;
}

}  // namespace tutti
