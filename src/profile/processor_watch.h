#pragma once

#include "advise/recording.h"
#include "base/clock.h"
#include "base/units.h"
#include "device/stall_counters.h"

namespace tutti {

// Processor time, the user's and the system's: what waits, or is kept from a core, takes none. Safe from any thread.

/// What all threads of this process have taken so far.
Seconds own_processor_time();
/// What its children have taken that ended and were waited for, theirs included.
Seconds children_processor_time();

// Whether the items of a run computed all the time, or waited for something else, as a disk, for a part of it: replayed
// with more threads the one is bound by the cores, and the other is not.

/// What this process and the children that have ended take of the processor, from the construction on, beside all that
/// the machine does. One thread.
class ProcessorWatch {
 public:
  ProcessorWatch();

  /// Of a run since the construction: for how much of their time the items of its computing stages held a core, all of
  /// them alike. Where the machine had no core to spare that is not known, for they may have waited for one: then all.
  void note(RunRecording& recording) const;
  /// The same share for items that worked for `working` in computing stages, with `cores` that the process may use.
  double on_core(Seconds working, int cores) const;
  /// The least that `on_core` may be: what they waited for was no core.
  double least_on_core(Seconds working) const;

 private:
  Seconds own_passed() const;

  Clock::Instant start_;
  Seconds own_;
  StallCounters machine_;
};

/// For how much of their time items held a core, by these sums; 1 where that cannot be known. Pure.
///
/// `own`: processor time of the run. `working`: time of its items in computing stages. `all`: processor time of the
/// whole machine. `possible`: what that could have been at most.
double share_on_core(Seconds own, Seconds working, Seconds all, Seconds possible);

}  // namespace tutti
