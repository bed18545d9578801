#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/job_class.h"
#include "base/units.h"
#include "metrics/idle.h"

namespace tutti {

// The terms of this module. Every moment is a Seconds since any origin that stays the same for a run: nothing in here
// reads a clock. "Audio" is seconds of recording, and a speed is seconds of audio per second.

using JobKey = std::uint64_t;     // the caller's: a row of its store, an index in its list
using GrantId = std::uint64_t;    // the dispatcher's; never 0, never used twice
using DeviceIndex = std::size_t;  // the order in which devices were added; never given to another

/// How jobs and devices are brought together.
enum class Policy {
  tutti,        ///< earliest expected finish, longest first, slow devices leave the tail alone
  note,         ///< field note 000: least of 50 jobs/cap + 50 load, in order of arrival; its caps enforced
  note_raw,     ///< the note's program: as `note`, and its caps only scale the score
  fifo,         ///< in order of arrival, by whichever device has a free slot
  round_robin,  ///< dealt out in order of arrival, one to each device after the other
};

inline constexpr Policy kPolicies[] = {Policy::tutti, Policy::note, Policy::note_raw, Policy::fifo,
                                       Policy::round_robin};

/// As --policy names it, and tables.
constexpr std::string_view name_of(Policy policy) {
  constexpr std::string_view kNames[] = {"tutti", "note", "note_raw", "fifo", "round_robin"};
  return kNames[static_cast<std::size_t>(policy)];
}
constexpr std::optional<Policy> policy_named(std::string_view name) {
  for (const Policy policy : kPolicies)
    if (name == name_of(policy)) return policy;
  return {};
}

/// Jobs on each device at once by the field note, where no cap is given.
inline constexpr int kNoteCap = 5;

/// What is known of a job when it is added. Later: Dispatcher::correct_length.
struct JobFacts {
  JobClass kind = JobClass::batch;
  int priority = 0;                   ///< one step is worth an ageing period of waiting
  Seconds queued_at{};                ///< ageing counts from here; negative: it has waited since an earlier run
  std::optional<Seconds> deadline{};  ///< interactive jobs go by it; negative: it is over
  Seconds audio{};                    ///< as far as it is known; 0: no idea
  bool whole = false;                 ///< one piece, on one device from start to end; else windows, anywhere
};

/// What is known of a device when it is added.
struct DeviceFacts {
  std::string id{};               ///< "GPU-…", "cpu:0", "emulated:30x:12GB#2": for people and records
  double speed = 1;               ///< prior, with `enough` pieces in flight
  int slots = 1;                  ///< pieces in flight at most: what the worker takes
  int enough = 1;                 ///< pieces in flight at which it is as fast as it gets
  std::optional<int> job_cap{};   ///< jobs with a piece in flight here at most (--max-per-gpu)
  std::optional<Bytes> memory{};  ///< in all; none: not known, and so no bound
  Bytes model_memory{};           ///< weights and workspace: taken as long as the device is in service
  Bytes piece_memory{};           ///< memory of each piece in flight, beside them
  Seconds load_time{};            ///< from the start of its worker until the model is there; 0: not known
  bool starting = false;          ///< its worker is not ready: nothing is placed until HealthEvent::ready
};

/// How busy a device is by its driver.
struct DeviceLoad {
  /// Utilisation, 0 to 1, of all processes; none: the driver cannot say it now.
  std::optional<double> busy{};
  /// That of others alone; none: not known.
  std::optional<double> foreign{};
};

/// A piece of a job that is to run on a device now, its memory and its slot taken in the same step.
struct Grant {
  GrantId id = 0;
  JobKey job = 0;
  DeviceIndex device = 0;
  Seconds audio{};
  Bytes reserved{};
  /// No piece of a job: a short known clip, by a fresh worker, to see whether the device is well.
  bool canary = false;
};

/// Whose fault a failure is, as far as the caller can tell.
enum class Blame {
  permanent,  ///< the recording's: trying again cannot help
  device,     ///< the worker crashed or answered nonsense
  unclear,    ///< it hung, stalled, was killed from outside or lost its device: the machine's fault as likely
  lost,       ///< the GPU is gone, as its driver reports: no recording does that
  exhausted,  ///< out of memory on the device
  cancelled,  ///< released, through no fault at all
};

/// What becomes of a job after a failure.
struct FailureDecision {
  enum class Next {
    retry,   ///< its piece is queued again
    failed,  ///< tell the user; end_job follows
  };
  Next next = Next::retry;
  std::string reason{};  ///< in words, with the devices it was on
};

}  // namespace tutti
