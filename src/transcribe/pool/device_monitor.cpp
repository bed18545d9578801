#include <algorithm>
#include <cmath>

#include "balance/window_cost.h"
#include "base/log.h"
#include "hub/memory_plan.h"
#include "link/session.h"
#include "transcribe/pool/pool_state.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kLook{200};  // between looks at a worker that no thread waits for
constexpr std::chrono::seconds kStopped{1};      // between two looks: this process was stopped
constexpr Seconds kLeastPatience{5};             // least time to wait for an answer, by the pool's clock
constexpr Seconds kUnknownPatience{300};         // where its speed is unknown
constexpr double kDoubt = 3;                     // factor on the time limit of a declared speed, before one is measured
constexpr double kLatenessFactor = 2.5;          // factor on the time that all that is in flight should take
constexpr double kHeaviestWindow = 16;           // times the usual one: many samples of a text without an end
constexpr Seconds kFirstRest{0.5};               // before a worker that did not get ready is tried again; doubles
constexpr Seconds kLongestRest{30};
constexpr Seconds kLongRun{10};  // a worker that lived so long is started again at once
constexpr std::int32_t kCanaryFrames = 1000;

class DeviceMonitor {
 public:
  DeviceMonitor(PoolShared& pool, DeviceIndex device)
      : pool_(pool), device_(device), me_(pool.members[device]), speed_known_(me_.facts.speed_known) {}

  void run() {
    for (int failures = 0; !over();) {
      wait_for_driver();
      const Seconds started_at = pool_.now();
      const auto error = run_worker_once();
      if (over() || (!was_ready_ && leave_for_good(error))) break;
      failures = was_ready_ && pool_.now() - started_at > kLongRun ? 0 : failures + 1;
      if (failures > 1 || !was_ready_) rest(std::min(kLongestRest, kFirstRest * std::exp2(failures - 1)));
    }
    finish_canary();
  }

 private:
  bool over() const {
    PoolShared::Lock lock(pool_.mutex);
    return pool_.stopping || pool_.over;
  }

  /// Starts a worker and stays with it to its end.
  Error run_worker_once() {
    was_ready_ = false;
    WorkerOptions options = me_.facts.worker;
    if (me_.ready) options.model.time_a_window = false;  // an earlier one has
    auto started = WorkerHandle::start(std::move(options));
    if (!started) return started.error();
    const std::shared_ptr<WorkerHandle> worker = std::move(*started);
    int generation = 0;
    {
      PoolShared::Lock lock(pool_.mutex);
      if (pool_.stopping) return {Fault::cancelled, "stopped"};
      // Its driver has reported a fault since we waited for it, and no worker process was there to be ended. This one
      // must not begin, or it would treat the new fault as over.
      if (me_.fault_event) return {Fault::cancelled, me_.fault};
      me_.worker = worker;
      me_.loss.reset();
      generation = me_.generation;
    }
    auto ready = worker->ready();
    if (ready) ready = fitting(std::move(*ready));
    const Error error = ready ? serve(worker, generation, *ready) : ready.error();
    worker->stop(Seconds(0));
    finish_canary();
    PoolShared::Lock lock(pool_.mutex);
    if (!ready) not_ready(lock, error);
    me_.worker.reset();
    if (!pool_.stopping && !pool_.over) ++me_.restarts;
    return error;
  }

  /// All devices of a pool must serve one model.
  Result<Ready> fitting(Ready ready) {
    PoolShared::Lock lock(pool_.mutex);
    for (const auto& other : pool_.members) {
      if (!other.ready || &other == &me_) continue;
      if (other.ready->n_mels != ready.n_mels || other.ready->n_vocab != ready.n_vocab)
        return fail(Fault::unsupported, me_.facts.id + " has another model than " + other.facts.id);
    }
    return ready;
  }

  void not_ready(const PoolShared::Lock& lock, const Error& error) {
    me_.last_error = error;
    if (pool_.stopping) return;
    pool_.dispatcher.nothing_came_since(device_, me_.progress_at, pool_.now());
    if (!me_.was_away) log(Level::warning, me_.facts.id + ": did not get ready: " + error.text());
    me_.was_away = true;
    if (!me_.fault_event)  // else its driver has reported better what it is
      pool_.dispatcher.device_event(device_, HealthEvent::lost, error.what, pool_.now());
    pool_.pump(lock);
  }

  Error serve(const std::shared_ptr<WorkerHandle>& worker, int generation, const Ready& ready) {
    was_ready_ = true;
    PoolShared::Lock lock(pool_.mutex);
    if (me_.generation != generation)
      return me_.loss.value_or(Error{Fault::cancelled, "stopped"});  // lost as it got ready
    me_.ready = ready;
    me_.serving = true;
    pool_.dispatcher.nothing_came_since(device_, me_.progress_at, pool_.now());  // a canary has waited for it
    me_.progress_at = pool_.now();
    pool_.dispatcher.device_slots(device_, windows_in_flight(ready.slots), pool_.now());
    if (ready.window_seconds > 0) believe(ready);
    const bool back = std::exchange(me_.was_away, false);
    if (back) log(Level::info, me_.facts.id + ": is back; a canary window decides");
    if (back) pool_.dispatcher.device_event(device_, HealthEvent::returned, "its worker is ready again", pool_.now());
    pool_.dispatcher.device_event(device_, HealthEvent::ready, "", pool_.now());
    pool_.ready.notify_all();
    pool_.pump(lock);
    for (auto looked = Clock::real().now(); !pool_.stopping && !pool_.over && me_.generation == generation;) {
      if (me_.canary && !me_.canary_runs) run_canary(lock, worker, generation);
      me_.changed.wait_for(lock, kLook);
      if (me_.generation != generation) break;
      // We were stopped ourselves (Ctrl+Z): what has come back meanwhile is only about to be received.
      const auto last = std::exchange(looked, Clock::real().now());
      if (looked - last > kStopped) me_.progress_at = pool_.now();
      if (auto ended = worker->ended())
        pool_.lost(lock, device_, generation, *ended, Blame::device);
      else if (auto stalled = too_late())
        pool_.lost(lock, device_, generation, *stalled, Blame::unclear);
    }
    me_.serving = false;
    return me_.loss.value_or(Error{Fault::cancelled, "stopped"});
  }

  /// What the worker's self-test has found counts until windows are measured.
  void believe(const Ready& ready) {
    const double window = ready.n_audio_ctx / kPositionsPerSecond;
    const double speed = window / (ready.window_seconds / pool_.options.time);
    log(Level::info, me_.facts.id + ": " + std::to_string(std::lround(speed)) + " x real time in a short self-test");
    pool_.dispatcher.device_speed(device_, speed, pool_.now());
    speed_known_ = true;
  }

  /// So long it may finish nothing of what should take it `expected` in all.
  Seconds patience(const DeviceView& view, Seconds expected) const {
    const Seconds heaviest = kHeaviestWindow * kFullWindow / std::max(1e-3, view.single);
    const Seconds by_speed = std::max({kLeastPatience, heaviest, expected * kLatenessFactor});
    if (view.error) return by_speed;
    if (!speed_known_) return std::max(kUnknownPatience, expected * kLatenessFactor);
    return std::max(by_speed, std::min(kUnknownPatience, by_speed * kDoubt));
  }

  /// Pings are answered and windows are not.
  std::optional<Error> too_late() {
    Seconds audio{};
    for (const auto& [grant, reservation] : pool_.granted)
      if (reservation->device == device_ && reservation->worker) audio += std::min(reservation->audio, kFullWindow);
    if (me_.canary_runs) audio += Seconds(kCanaryFrames / 100.0);
    if (audio == Seconds(0)) {
      me_.progress_at = pool_.now();
      return {};
    }
    const DeviceView view = pool_.dispatcher.devices(pool_.now())[device_];
    const Seconds expected = audio / std::max(1e-3, view.rate);
    const Seconds silent = pool_.now() - me_.progress_at;
    if (silent <= patience(view, expected)) return {};
    return Error{Fault::device, "no window has come back for " + std::to_string(std::lround(silent.count())) +
                                    " s; all that are in flight should have taken " +
                                    std::to_string(std::lround(expected.count())) + " s"};
  }

  /// On a thread of its own, so that this one can watch it.
  void run_canary(const PoolShared::Lock&, const std::shared_ptr<WorkerHandle>& worker, int generation) {
    me_.canary_runs = true;  // the one before has done with the lock, so that its future can be released here
    const std::int32_t n_mels = me_.ready->n_mels;
    const WindowId window = kCanaryBit | ++canaries_;
    canary_ = std::async(std::launch::async, [this, worker, generation, n_mels, window] {
      std::vector<float> mel(static_cast<std::size_t>(n_mels) * kCanaryFrames);
      for (std::size_t i = 0; i < mel.size(); ++i) mel[i] = 0.5F * std::sin(static_cast<float>(i) * 0.37F);
      const auto opened = worker->open({.window = window, .n_mels = n_mels, .frames = kCanaryFrames}, mel);
      worker->release(window);
      PoolShared::Lock lock(pool_.mutex);
      if (me_.generation != generation || !me_.canary) return;
      me_.canary_runs = false;
      me_.progress_at = pool_.now();
      const Grant grant = *std::exchange(me_.canary, std::nullopt);
      if (opened)
        pool_.dispatcher.finished(grant.id, pool_.now());
      else
        pool_.dispatcher.failed(grant.id, Blame::device, opened.error().what, pool_.now());
      pool_.pump(lock);
    });
  }

  void finish_canary() {
    if (canary_.valid()) canary_.get();
    PoolShared::Lock lock(pool_.mutex);
    me_.canary_runs = false;
  }

  bool leave_for_good(const Error& error) {
    if (!is_permanent(error.fault)) return false;
    PoolShared::Lock lock(pool_.mutex);
    me_.gone = error;
    log(Level::error, me_.facts.id + ": is left out for good: " + error.text());
    pool_.pump(lock);
    return true;
  }

  void wait_for_driver() {
    PoolShared::Lock lock(pool_.mutex);
    me_.changed.wait(lock, [&] { return !me_.fault_event || pool_.stopping || pool_.over; });
  }

  void rest(Seconds time) {
    PoolShared::Lock lock(pool_.mutex);
    const auto until = pool_.instant(pool_.now() + time);
    me_.changed.wait_until(lock, until, [&] { return pool_.stopping || pool_.over.has_value(); });
  }

  PoolShared& pool_;
  const DeviceIndex device_;
  PoolMember& me_;
  bool speed_known_;  // declared beforehand, or found by a self-test
  bool was_ready_ = false;
  WindowId canaries_ = 0;
  std::future<void> canary_{};
};

}  // namespace

void monitor_device(PoolShared& pool, DeviceIndex device) {
  DeviceMonitor(pool, device).run();
}

}  // namespace tutti
