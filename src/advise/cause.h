#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/recording.h"

namespace tutti {

/// What a run's time can be lost to.
enum class Cause {
  source,
  audio_decoding,
  clip_making,
  speech_detection,
  features,
  augmentation,
  batch_assembly,
  copy,
  device_compute,
  writing,
  memory_pressure,
  cpu_quota,
  too_many_threads,
  other_processes,
  throttling,
  unequal_lengths,
  slow_files,
  balanced,
  unknown,
};

/// The words for people: "audio decoding".
std::string_view name_of(Cause cause);

/// What the limiting stage is about; balanced where it costs less than kLeastGain. Pure.
Cause cause_of(const Bottleneck& limit);

/// What the machine did beside a run, as far as it is known: all but cores and pages are shares of the run's time, 0
/// where nothing is known.
struct MachineEvidence {
  double other_cores = 0;       ///< that other programs took
  double throttled_cores = 0;   ///< on average, that the control group's quota held back
  double cpu_stall = 0;         ///< some program had no processor though it could have run
  double memory_stall = 0;      ///< some program waited for memory
  double swapped_a_second = 0;  ///< pages, in and out
  double hot = 0;               ///< a core was slowed down for its heat, or a GPU for heat or power
};

/// Something that costs time beside the limiting stage, with the number that shows it.
struct SideCause {
  Cause cause = Cause::unknown;
  double number = 0;  ///< cores of other processes or held back by a quota, threads too many; else a share of the time
  double gain = 0;    ///< predicted, as a share of the rate; 0: not predicted
  double pages = 0;   ///< pages swapped a second, in and out, with memory pressure
  /// Share of its time in which a device's thread had no core, with too many threads; else 0.
  double core_wait = 0;
  std::string flag{};  ///< of the threads that its work has beside those of the other stages; empty: it has none
};

/// All that there is evidence for: what the machine counted, threads beyond its cores that gain nothing by replay or
/// hold the cores that a device's own thread waits for, unequal lengths, where the replay of the longest items first is
/// faster, and slow files that held up batches which were whole. Pure.
std::vector<SideCause> side_causes(const RunRecording& recording, const MachineEvidence& evidence);

}  // namespace tutti
