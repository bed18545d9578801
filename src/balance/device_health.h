#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tutti {

enum class DeviceState {
  starting,     ///< its worker is not ready yet
  healthy,      ///< in service
  suspect,      ///< in service; it failed lately
  open,         ///< the breaker is open: nothing is placed until the back-off is over
  probing,      ///< a canary clip decides
  warming,      ///< in service with a quarter, then half of its slots
  draining,     ///< finishes what it has, at an operator's request
  quarantined,  ///< faults of the hardware, or too many of its own: no probe until `returned`
  lost,         ///< out of reach: no probe until `returned`
};
std::string_view name_of(DeviceState state);

/// Events about a device from outside its jobs (telemetry, operator, supervisor).
enum class HealthEvent {
  ready,       ///< its worker has the model
  restarting,  ///< its worker starts again: nothing is placed until `ready`
  lost,        ///< GPU_IS_LOST, Xid 79, its UUID is gone, a driver call that hangs; or no worker gets ready there
  quarantine,  ///< Xid 48, 64, 95 …, RESET_REQUIRED: it is there, and needs a repair
  returned,    ///< it enumerates again, or was reset: a canary decides
  drain,       ///< an operator's request; it outlasts the device's being away
  resume,      ///< takes that back; of a device in quarantine: a canary decides
};

/// A row of the device's record.
struct HealthChange {
  Seconds at{};
  DeviceState from{};
  DeviceState to{};
  std::string reason{};
};

struct BreakerOptions {
  int failures_in_a_row = 3;  ///< open after so many …
  int of_last = 10;           ///< … or when more than half of so many failed
  Seconds back_off{30};       ///< times the number of times it has opened without having been well since
  Seconds longest_back_off{1800};
  int canaries = 2;           ///< successes that close it again
  int quarantine_after = 6;   ///< openings in a row: then it needs `returned`
  int warm_up_successes = 4;  ///< at a quarter of the slots, and again at half of them
  Seconds proof_lasts{120};   ///< so long after a success a device counts as well
};

/// Whether one device may be given work, and how much of it. Pure: a failure or success in, a state out.
class DeviceHealth {
 public:
  explicit DeviceHealth(BreakerOptions options = {}, bool starting = false);

  void on_event(HealthEvent event, const std::string& reason, Seconds now);
  /// A piece or canary of it succeeded.
  void succeeded(bool canary, Seconds now);
  /// A failure the device is blamed for. `last_in_service`: no other device is, so that instead of being left alone for
  /// a while it is probed at once; one signal never takes everything out.
  void failed(const std::string& reason, bool canary, bool last_in_service, Seconds now);
  /// Takes blame back that turned out to be a job's: `count` failures.
  void forgive(int count, Seconds now);
  /// Lets time pass: an open breaker turns to probing.
  void advance(Seconds now);

  DeviceState state() const { return state_; }
  bool in_service() const;  ///< takes pieces of jobs
  /// It had lately succeeded or got ready when something began `at` that time, and has not failed since: something else
  /// may be to blame for the next failure.
  bool proven(Seconds at) const { return well_at_ && at - *well_at_ <= options_.proof_lasts; }
  bool wants_canary() const { return state_ == DeviceState::probing; }
  /// Its worker was lost and the next one is not ready: what that takes is the fault's doing.
  bool starts_again() const { return starts_again_; }
  /// How many of `slots` may be used now: all, or while warming up a quarter or half, at least one.
  int allowed(int slots) const;
  /// When `advance` will change something.
  std::optional<Seconds> wake_at() const;
  const std::string& reason() const { return reason_; }  ///< reason of the last change, in words
  Seconds since() const { return since_; }
  const std::vector<HealthChange>& changes() const { return changes_; }

 private:
  void become(DeviceState to, const std::string& reason, Seconds now);
  void drain(const std::string& reason, Seconds now);
  void open(const std::string& reason, bool last_in_service, Seconds now);
  bool too_many_failures() const;

  BreakerOptions options_;
  DeviceState state_;
  DeviceState before_drain_ = DeviceState::healthy;
  bool drain_requested_ = false;  // also while it is gone: it does not come back to work
  std::string reason_{};
  Seconds since_{};
  Seconds open_until_{};
  std::deque<bool> recent_{};  // true: failed
  int in_a_row_ = 0;
  std::optional<Seconds> well_at_{Seconds{}};  // latest sign of it; none since a failure
  bool has_failed_ = false;
  bool starts_again_ = false;
  int openings_ = 0;
  int canaries_passed_ = 0;
  int warm_successes_ = 0;
  std::vector<HealthChange> changes_{};
};

}  // namespace tutti
