#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// Time in which a device had nothing in flight, by balance's reasons (Idle).
struct IdleTime {
  Seconds no_job{};           // nothing was left to do
  Seconds input{};            // jobs were left, none had its input ready
  Seconds memory{};           // memory of the device or the machine was full
  Seconds cap{};              // --max-per-gpu, --threads or the decoders
  Seconds fault{};            // breaker, lost or quarantined GPU, workers that were lost and start again
  Seconds starting{};         // loading the model for the first time
  Seconds left_to_faster{};   // others finish what is left sooner
  Seconds drained{};          // a user drained it
  Seconds disk_full{};        // there was no space to write
  Seconds not_writable{};     // a folder could not be written to
  Seconds stalled{};          // another device held what was left, and had stalled
  Seconds put_off{};          // what was left was to be tried again later, or in work elsewhere
  Seconds awaiting_answer{};  // a question to the user was open

  Seconds sum() const {
    return no_job + input + memory + cap + fault + starting + left_to_faster + drained + disk_full + not_writable +
           stalled + put_off + awaiting_answer;
  }
};

/// How a device spent the time of a run; busy and idle add up to its length.
struct DeviceTime {
  std::string id;
  Seconds busy{};
  IdleTime idle{};
  Seconds audio{};                // done here
  double windows = 0;             // in it
  std::optional<double> rated{};  // audio seconds per second that it is known to do; none: audio / busy
};

/// What `tutti plan` had quoted before.
struct RunQuote {
  std::optional<Seconds> time{};
  std::optional<double> energy_joules{};
  std::optional<double> cost{};
};

/// The numbers of a finished run.
struct RunNumbers {
  Seconds elapsed{};
  std::size_t done = 0;
  std::size_t copied = 0;  // jobs of `done` that were copied from recordings with the same content
  std::size_t failed = 0;
  std::size_t cancelled = 0;
  Seconds audio{};
  Seconds longest{};         // the longest recording
  bool shared_files = true;  // windows of one file may run on several devices
  std::string policy{};      // that placed the work, as --policy names it; empty or tutti: the usual one
  bool stopped = false;      // what was in work then has taken time, and is no audio done
  std::vector<DeviceTime> devices{};
  std::optional<double> energy_joules{};
  std::optional<double> cost{};
  RunQuote quote{};
};

/// The least time the run could have taken on its devices, from their speeds: Σd/Σs, and for whole files at least
/// longest/fastest (Graham's bound for uniform machines). None where no device's speed is known.
std::optional<Seconds> lower_bound(const RunNumbers& run);

/// What would have made the run faster, the largest gain first. Where the devices did nothing, only their faults.
struct Remedy {
  Seconds gain{};  // less time for the whole run
  std::string text;
  std::string cause{};  // in a few words: "waiting for input 42 % of the time"
};
std::vector<Remedy> remedies(const RunNumbers& run);

/// One sentence: what limits the run, and what is gained without it. Empty where the run is too short to say so, or
/// where nothing would gain a fiftieth of it.
std::string finding_of(const RunNumbers& run);

/// The report in words, one sentence or table row per line. Pure.
std::vector<std::string> run_report(const RunNumbers& run);

}  // namespace tutti
