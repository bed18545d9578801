#include <algorithm>
#include <cmath>

#include "audio/mel/log_mel.h"
#include "balance/window_cost.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
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
constexpr std::int32_t kCanaryFrames = 1000;
constexpr std::int32_t kTestTokens = 8;
constexpr std::chrono::seconds kTestLimit{120};  // of a slow GPU's first kernels

/// A few starts are all there are: each is logged, and the owner reports the last one's error.
bool gives_up(const PoolPlan& plan) {
  return plan.restarts.failed_starts > 0;
}

/// All devices of a pool must serve one model.
Result<void> check_fits(const PoolState& pool, DeviceIndex device, const Ready& ready) {
  for (DeviceIndex index = 0; index < pool.members.size(); ++index) {
    const PoolMember& other = pool.members[index];
    if (index == device || !other.ready) continue;
    if (other.ready->n_mels != ready.n_mels || other.ready->n_vocab != ready.n_vocab ||
        other.ready->n_audio_ctx != ready.n_audio_ctx)
      return fail(Fault::unsupported, pool.members[device].facts.id + " has another model than " + other.facts.id);
  }
  return {};
}

class DeviceMonitor {
 public:
  DeviceMonitor(PoolShared& pool, DeviceIndex device)
      : pool_(pool), device_(device), facts_(pool.plan().devices[device]), speed_known_(facts_.speed_known) {}

  void run() {
    for (RestartPolicy policy(pool_.plan().restarts, facts_.worker.name); !over();) {
      wait_for_driver();
      const Seconds started_at = pool_.now();
      past_ = {};
      const auto error = run_worker_once();
      past_.lasted = pool_.now() - started_at;
      const auto decision = policy.ended(error, past_);
      if (over()) break;
      if (decision.give_up) {
        leave_for_good(*decision.give_up);
        break;
      }
      if (gives_up(pool_.plan()) && !past_.was_ready) log(Level::warning, error.text() + again_text(0));
      rest(decision.wait);
    }
    finish_canary();
  }

 private:
  bool over() const {
    const auto pool = pool_.lock();
    return pool->stopping || pool->over;
  }

  /// Starts a worker and stays with it to its end.
  Error run_worker_once() {
    WorkerOptions options = facts_.worker;
    if (pool_.lock()->members[device_].ready) options.model.time_a_window = false;  // an earlier one has
    auto started = WorkerHandle::start(std::move(options));
    if (!started) return started.error();
    const std::shared_ptr<WorkerHandle> worker = std::move(*started);
    int generation = 0;
    {
      const auto pool = pool_.lock();
      PoolMember& me = pool->members[device_];
      if (pool->stopping) return {Fault::cancelled, "stopped"};
      // Its driver has reported a fault since we waited for it, and no worker process was there to be ended. This one
      // must not begin, or it would treat the new fault as over.
      if (me.fault_event) return {Fault::cancelled, me.fault};
      me.worker = worker;
      me.loss.reset();
      generation = me.generation;
    }
    auto ready = worker->ready();
    if (ready)
      if (auto fits = check_fits(*pool_.lock(), device_, *ready); !fits) ready = tl::unexpected(fits.error());
    if (ready && facts_.tested && !has_passed_)
      if (auto passed = test(*worker, *ready); !passed) ready = tl::unexpected(passed.error());
    const Error error = ready ? serve(worker, generation, *ready) : ready.error();
    if (!pool_.lock()->stopping) worker->stop(Seconds(0));  // else it has the pool's grace
    finish_canary();
    past_.has_finished_work = worker->has_finished_work();
    const auto pool = pool_.lock();
    if (!ready) not_ready(*pool, error);
    PoolMember& me = pool->members[device_];
    me.worker.reset();
    if (!pool->stopping && !pool->over) ++me.restarts;
    return error;
  }

  /// A driver that answers and a model that is loaded do not show that the device computes.
  Result<void> test(WorkerHandle& worker, const Ready& ready) {
    const WindowId window = kCanaryBit | ++canaries_;
    const auto started = Clock::real().now();
    auto answer = std::async(std::launch::async, [&]() -> Result<Decoded> {
      TRY(open_canary(worker, window, ready));
      auto decoded = worker.decode({.window = window, .request = 1, .prompt = {0}, .max_tokens = kTestTokens});
      worker.release(window);
      return decoded;
    });
    const bool is_late = answer.wait_for(kTestLimit) == std::future_status::timeout;
    if (is_late) worker.stop(Seconds(0));
    const auto decoded = answer.get();
    const auto failed = [&](const std::string& why) {
      return fail(Fault::device, facts_.id + ": the test of the device failed: " + why,
                  "'tutti doctor' looks at the driver, and 'tutti bench' at what the device computes");
    };
    if (is_late) return failed("no answer in " + std::to_string(kTestLimit.count()) + " s");
    if (!decoded && decoded.error().fault == Fault::cancelled) return tl::unexpected<Error>(decoded.error());
    if (!decoded) return failed(decoded.error().what);
    if (!std::isfinite(decoded->sum_logprob)) return failed("what it computes are no numbers");
    has_passed_ = true;
    const std::string name = ready.device_name.empty() ? facts_.id : ready.device_name;
    log(Level::info, std::string(kGpuTestPassed) + ": " + name + " has computed a window in " +
                         fixed_text(Seconds(Clock::real().now() - started).count(), 2) + " s");
    return {};
  }

  void not_ready(PoolState& pool, const Error& error) {
    PoolMember& me = pool.members[device_];
    me.last_error = error;
    if (pool.stopping) return;
    pool.dispatcher.nothing_came_since(device_, me.progress_at, pool.now());
    if (!me.was_away && !gives_up(pool_.plan()))
      log(Level::warning, facts_.id + ": did not get ready: " + error.text());
    me.was_away = true;
    if (!me.fault_event)  // else its driver has reported better what it is
      pool.dispatcher.device_event(device_, HealthEvent::lost, error.what, pool.now());
    pool.pump();
  }

  Error serve(const std::shared_ptr<WorkerHandle>& worker, int generation, const Ready& ready) {
    past_.was_ready = true;
    auto pool = pool_.lock();
    PoolMember& me = pool->members[device_];
    if (me.generation != generation)
      return me.loss.value_or(Error{Fault::cancelled, "stopped"});  // lost as it got ready
    me.ready = ready;
    me.serving = true;
    pool->dispatcher.nothing_came_since(device_, me.progress_at, pool->now());  // a canary has waited for it
    me.progress_at = pool->now();
    pool->dispatcher.device_slots(device_, windows_in_flight(ready.slots), pool->now());
    if (ready.window_seconds > 0) believe(*pool, ready);
    const bool back = std::exchange(me.was_away, false);
    if (back) log(Level::info, facts_.id + ": is back; a canary window decides");
    if (back) pool->dispatcher.device_event(device_, HealthEvent::returned, "its worker is ready again", pool->now());
    pool->dispatcher.device_event(device_, HealthEvent::ready, "", pool->now());
    pool->ready.notify_all();
    pool->pump();
    for (auto looked = Clock::real().now(); !pool->stopping && !pool->over && me.generation == generation;) {
      if (me.canary && !me.canary_runs) run_canary(*pool, worker, generation);
      me.changed.wait_for(pool.held(), kLook);
      if (me.generation != generation) break;
      // We were stopped ourselves (Ctrl+Z): what has come back meanwhile is only about to be received.
      const auto last = std::exchange(looked, Clock::real().now());
      if (looked - last > kStopped) me.progress_at = pool->now();
      if (auto ended = worker->ended())
        pool->lost(device_, generation, *ended, Blame::device);
      else if (auto stalled = pool_.plan().detects_stalls ? too_late(*pool) : std::nullopt)
        pool->lost(device_, generation, *stalled, Blame::unclear);
    }
    me.serving = false;
    return me.loss.value_or(Error{Fault::cancelled, "stopped"});
  }

  /// What the worker's self-test has found counts until windows are measured.
  void believe(PoolState& pool, const Ready& ready) {
    const double window = ready.n_audio_ctx / kPositionsPerSecond;
    const double speed = window / (ready.window_seconds / pool_.plan().time);
    log(Level::info, facts_.id + ": " + std::to_string(std::lround(speed)) + " x real time in a short self-test");
    pool.dispatcher.device_speed(device_, speed, pool.now());
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
  std::optional<Error> too_late(PoolState& pool) const {
    PoolMember& me = pool.members[device_];
    Seconds audio{};
    for (const auto& [grant, reservation] : pool.granted)
      if (reservation->device == device_ && reservation->worker) audio += std::min(reservation->audio, kFullWindow);
    if (me.canary_runs) audio += Seconds(kCanaryFrames / 100.0);
    if (audio == Seconds(0)) {
      me.progress_at = pool.now();
      return {};
    }
    const DeviceView view = pool.dispatcher.devices(pool.now())[device_];
    const Seconds expected = audio / std::max(1e-3, view.rate);
    const Seconds silent = pool.now() - me.progress_at;
    if (silent <= patience(view, expected)) return {};
    return Error{Fault::device, "no window has come back for " + std::to_string(std::lround(silent.count())) +
                                    " s; all that are in flight should have taken " +
                                    std::to_string(std::lround(expected.count())) + " s"};
  }

  /// On a thread of its own, so that this one can watch it.
  void run_canary(PoolState& pool, const std::shared_ptr<WorkerHandle>& worker, int generation) {
    PoolMember& me = pool.members[device_];
    me.canary_runs = true;  // the one before has done with the lock, so that its future can be released here
    const WindowId window = kCanaryBit | ++canaries_;
    canary_ = std::async(std::launch::async, [this, worker, generation, ready = *me.ready, window] {
      const auto opened = open_canary(*worker, window, ready);
      worker->release(window);
      const auto held = pool_.lock();
      PoolMember& self = held->members[device_];
      if (self.generation != generation || !self.canary) return;
      self.canary_runs = false;
      self.progress_at = held->now();
      const Grant grant = *std::exchange(self.canary, std::nullopt);
      if (opened)
        held->dispatcher.finished(grant.id, held->now());
      else
        held->dispatcher.failed(grant.id, Blame::device, opened.error().what, held->now());
      held->pump();
    });
  }

  /// Has something computed: as it is opened; of PCM nothing is, so it is transcribed as well.
  static Result<void> open_canary(WorkerHandle& worker, WindowId window, const Ready& ready) {
    const bool is_pcm = ready.n_mels == 0;
    const std::int32_t frames =
        std::min(kCanaryFrames, 2 * ready.n_audio_ctx) * (is_pcm ? std::int32_t{kHopSamples} : 1);
    const OpenWindow facts{.window = window, .n_mels = ready.n_mels, .frames = frames};
    std::vector<float> audio(static_cast<std::size_t>(facts.values()));
    for (std::size_t i = 0; i < audio.size(); ++i) audio[i] = 0.5F * std::sin(static_cast<float>(i) * 0.37F);
    auto opened = worker.open(facts, audio).map([](const Opened&) {});
    if (!opened || !is_pcm) return opened;
    return worker.transcribe({.window = window, .options = "{}"}).map([](const Transcribed&) {});
  }

  void finish_canary() {
    if (canary_.valid()) canary_.get();
    pool_.lock()->members[device_].canary_runs = false;
  }

  void leave_for_good(const Error& error) {
    const auto pool = pool_.lock();
    pool->members[device_].gone = error;
    if (!gives_up(pool_.plan())) log(Level::error, facts_.id + ": is left out for good: " + error.text());
    pool->pump();
  }

  void wait_for_driver() {
    auto pool = pool_.lock();
    PoolMember& me = pool->members[device_];
    me.changed.wait(pool.held(), [&] { return !me.fault_event || pool->stopping || pool->over; });
  }

  void rest(Seconds time) {
    auto pool = pool_.lock();
    const auto until = pool->instant(pool->now() + time);
    pool->members[device_].changed.wait_until(pool.held(), until,
                                              [&] { return pool->stopping || pool->over.has_value(); });
  }

  PoolShared& pool_;
  const DeviceIndex device_;
  const PooledDevice& facts_;
  bool speed_known_;         // declared beforehand, or found by a self-test
  bool has_passed_ = false;  // its test
  WorkerRun past_{};         // the present worker's, until now
  WindowId canaries_ = 0;
  std::future<void> canary_{};
};

}  // namespace

void monitor_device(PoolShared& pool, DeviceIndex device) {
  DeviceMonitor(pool, device).run();
}

}  // namespace tutti
