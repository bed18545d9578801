#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/cause.h"
#include "advise/diagnosis.h"
#include "advise/recording.h"

namespace tutti {

/// Something that costs time beside the limiting stage, with the number that shows it.
struct SideCause {
  Cause cause = Cause::unknown;
  double number = 0;  ///< cores of other processes or held back by a quota, threads too many; else a share of the time
  double gain = 0;    ///< predicted, as a share of the rate; 0: not predicted
  double pages = 0;   ///< pages swapped a second, in and out, with memory pressure
  /// Share of its time in which a device's thread had no core, with too many threads; with other processes, that in
  /// which the run's threads had none for these; else 0.
  double core_wait = 0;
  double of = 0;       ///< cores that there are, of which other processes took `number`; 0: not known
  std::string flag{};  ///< of the threads that its work has beside those of the other stages; empty: it has none
};

/// All that there is evidence for: what the machine counted, with what other programs took first; threads beyond its
/// cores that gain nothing by replay or hold the cores that a device's own thread waits for; unequal lengths, where the
/// items' lengths are known to differ and the replay of the longest first is faster; and slow files that held up
/// batches which were whole. Pure.
std::vector<SideCause> side_causes(const RunRecording& recording, const MachineEvidence& evidence);

/// The one cause that a profile names, and the one change that it advises.
struct RunFinding {
  Cause cause = Cause::unknown;       ///< what limits the run; unknown: it is not known
  std::optional<SideCause> beside{};  ///< it is no stage but this
  std::optional<Fix> advice{};        ///< changes of a stage; none: those of a stage gain less than kLeastGain, or are
                                      ///< not what the cause is about
};

/// Of what limits a run the cause that costs most. A stage's advice is a change that flags make, of that stage where it
/// gains about as much as any; without one, the stage twice as fast.
///
/// `causes`: those beside the limiting stage (side_causes). One of them is the finding where without it the run gains
/// more than by the stage's advice. What other programs took is it from half as much on, for the limiting stage's own
/// time holds the waits for them. Where the replay does not explain the run, it is what costs a fifth of the time or
/// more. Pure.
RunFinding finding_of(const RunRecording& recording, const std::optional<Diagnosis>& found,
                      const std::vector<SideCause>& causes);

}  // namespace tutti
