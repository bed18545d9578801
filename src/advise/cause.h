#pragma once

#include <string_view>

#include "advise/diagnosis.h"

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
  double cores = 0;             ///< that the machine has; 0: not known
  double core_wait = 0;         ///< of the time in which the run's threads could have run: they had no core
  double wanted_cores = 0;      ///< on which the run's threads ran, or could have
  double throttled_cores = 0;   ///< on average, that the control group's quota held back
  double cpu_stall = 0;         ///< some program had no processor though it could have run
  double memory_stall = 0;      ///< some program waited for memory
  double swapped_a_second = 0;  ///< pages, in and out
  double hot = 0;               ///< a core was slowed down for its heat, or a GPU for heat or power
};

}  // namespace tutti
