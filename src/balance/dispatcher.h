#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/device_health.h"
#include "balance/speed_model.h"
#include "balance/types.h"
#include "balance/window_cost.h"

namespace tutti {

struct DispatcherOptions {
  Policy policy = Policy::tutti;
  int jobs_at_once = 0;    ///< jobs in work at most, on all devices together (-t); 0: no bound
  double headroom = 0.05;  ///< share of a device's memory, at least `least_headroom`, that stays free
  Bytes least_headroom{512LL << 20};
  Seconds ageing{600};          ///< waiting so long is worth a step of priority
  int class_step = 6;           ///< a class is worth so many steps
  Seconds piece = kFullWindow;  ///< audio of a window, for what is not offered yet
  int workers_per_job = 2;      ///< workers a job may take down until it is set aside; one more where that is unclear
  bool fresh_worker_decides = false;  ///< the last of them must have had nothing else, not only nothing beside it
  Seconds canary_audio{10};
  BreakerOptions breaker{};
};

/// A device has run out of memory, or takes as many pieces as before again.
struct MemoryChange {
  Seconds at{};
  bool is_short = false;
  std::string reason{};
};

/// What running out of memory has cost a device.
struct MemoryLoss {
  int times = 0;
  int all = 0;             ///< pieces in flight that its worker takes
  int least = 0;           ///< fewest that it was given since
  std::optional<int> now;  ///< that it is given now; none: all of them again
};

/// What one device is doing, for people and reports. in_service = busy + the sum of idle, since it was added.
struct DeviceView {
  std::string id{};
  DeviceState state{};
  std::string state_reason{};
  Seconds state_since{};
  int pieces = 0;  ///< in flight
  int jobs = 0;    ///< with a piece in flight here
  int slots = 0;   ///< that may be used now: worker, memory, back-off and slow start considered
  std::optional<int> job_cap{};
  Bytes reserved{};               ///< the resident model included
  double speed = 0;               ///< as now believed of pieces as long as usual, with as many as make it fastest
  double rate = 0;                ///< with those that are in flight, at least one
  double single = 0;              ///< speed of one alone, a full window if those are shorter
  std::optional<double> error{};  ///< median relative error of its own predictions
  Seconds audio_done{};
  double windows_done = 0;  ///< in it; a whole file counts as those it makes
  Seconds in_service{};
  Seconds busy{};                  ///< with a piece in flight
  IdleTime idle{};                 ///< without, by reason
  std::optional<Idle> why_idle{};  ///< now
  std::string refusal{};           ///< why it takes nothing more now, in words: "needs 5.1 GB; 3.8 GB are free"
  std::optional<MemoryLoss> memory_loss{};  ///< none: it has never run out of memory
};

/// How far all of it is.
struct QueueView {
  std::optional<Seconds> expected_left{};  ///< until all is done; none while no device is in service
  double error = 0;                        ///< relative error of `expected_left`; 1: not known when
};

/// Decides which piece of which job runs where, and when. The one object that the real run and the simulator drive.
/// Pure: no thread, no I/O, no clock; the caller guards it (Guarded<Dispatcher>) and passes the time, which never goes
/// back. Nothing is bound to a device before it can start there.
///
/// Driving it: add devices and jobs; `offer` a piece of a job when its input is ready (a window computed; the whole
/// file); then take `next` until it yields nothing, run every grant, and report `finished` or `failed`. After any call,
/// and at `wake_at`, there may be something next. A job ends with `end_job`, whatever became of it.
class Dispatcher {
 public:
  explicit Dispatcher(const DispatcherOptions& options = {});
  ~Dispatcher();
  Dispatcher(Dispatcher&&) noexcept;
  Dispatcher& operator=(Dispatcher&&) noexcept;

  // Devices. The caller reports a lost worker by `failed` for every grant on it; its canary is over with
  // HealthEvent::lost or restarting.
  DeviceIndex add_device(DeviceFacts facts, Seconds now);
  void device_memory(DeviceIndex device, Bytes foreign, Seconds now);  ///< what others use of its memory, as measured
  /// How busy its driver reports it to be: what the note's policy scores by, and what others leave of its speed, until
  /// pieces were measured. Never called: the device has no driver that could say it.
  void device_load(DeviceIndex device, const DeviceLoad& load, Seconds now);
  void device_slots(DeviceIndex device, int slots, Seconds now);     ///< what its worker takes from now on
  void device_speed(DeviceIndex device, double speed, Seconds now);  ///< what to believe until pieces were measured
  void device_event(DeviceIndex device, HealthEvent event, const std::string& reason, Seconds now);
  /// Nothing has come since that moment of what is in flight there: its worker is lost, or was not ready yet. That time
  /// counts as a fault, not as work, and others that had nothing else to do have waited for it. To be called before
  /// `failed` is.
  void nothing_came_since(DeviceIndex device, Seconds since, Seconds now);

  // Jobs. Ids are the caller's and unique; calls for a job that is not there are ignored.
  void add_job(JobKey job, JobFacts facts, Seconds now);
  /// The length of the whole job, as found since: the sum of the pieces it offers, so less than the recording where
  /// only its speech is transcribed.
  void correct_length(JobKey job, Seconds audio, Seconds now);
  /// `count` more pieces of so much audio each can start. A job that is `whole` has one.
  void offer(JobKey job, Seconds audio, std::int64_t count, Seconds now);
  /// Withdraws pieces that wait: they will not run any more.
  void withdraw(JobKey job, Seconds now);
  /// An attempt at it is over and the next one comes later: it is no longer in work, and all of it is to be done. Not
  /// while something of it is in flight.
  void defer_job(JobKey job, Seconds now);
  /// Whatever of it is in flight stays in flight until it is finished or failed.
  void end_job(JobKey job, Seconds now);

  /// This machine is short of memory, and how: until that is over (nothing) no job is begun beside others.
  void host_short(std::optional<std::string> why, Seconds now);
  /// Jobs were added that their owner leaves alone, for this reason and no other: a device that has nothing to do
  /// meanwhile is idle for it. Nothing: there are none. Idle::input: more of them are to be added.
  void held_back(std::optional<Idle> why, Seconds now);

  // Decisions.
  std::optional<Grant> next(Seconds now);
  /// `is_measured`: its audio was worked on. For a window without speech only the language is detected, in a part of
  /// the time: it is no audio done, and no measure of the device's speed.
  void finished(GrantId grant, Seconds now, bool is_measured = true);
  FailureDecision failed(GrantId grant, Blame why, const std::string& reason, Seconds now);
  /// When to call `next` again although nothing has happened: a back-off is over, or a model should be loaded.
  std::optional<Seconds> wake_at() const;

  // For people.
  std::vector<DeviceView> devices(Seconds now);
  DeviceState state(DeviceIndex device) const;  ///< as of the latest call that passed the time
  QueueView queue(Seconds now);
  const std::vector<HealthChange>& health_changes(DeviceIndex device) const;
  /// What running out of memory has changed, in order.
  const std::vector<MemoryChange>& memory_changes(DeviceIndex device) const;
  /// The measured speeds, by pieces in flight: to be kept, and passed as DeviceFacts::speed next time.
  std::vector<SpeedView> speeds(DeviceIndex device) const;
  /// The device that would take the next job if one were ready and had a slot; none when no device is in service.
  std::optional<DeviceIndex> next_device(Seconds now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
