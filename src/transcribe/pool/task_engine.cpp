#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "transcribe/pool/pool_state.h"

namespace tutti {
namespace {

class TaskEngine final : public PoolTaskEngine {
 public:
  TaskEngine(std::shared_ptr<PoolShared> pool, const PoolTask& task)
      : pool_(std::move(pool)), task_(task), length_(task.audio) {
    const PoolShared::Lock lock(pool_->mutex);
    record_ = pool_->record_of(lock, task.id);
    record_->granted = false;
  }

  ~TaskEngine() override {
    PoolShared::Lock lock(pool_->mutex);
    if (whole_) settle(lock, *whole_);
    pool_->dispatcher.rest_task(task_.id, pool_->now());  // its place among those in work is another's
    pool_->pump(lock);
  }

  Result<Opened> open(WindowId window, std::span<const float> mel, std::int32_t n_mels, std::int32_t frames) override {
    auto held = std::make_shared<Window>();
    held->mel.assign(mel.begin(), mel.end());
    held->n_mels = n_mels;
    held->frames = frames;
    {
      PoolShared::Lock lock(pool_->mutex);
      held->place = place_for(lock, Seconds(frames / kFramesPerSecond));
      windows_[window] = held;
      pool_->pump(lock);
    }
    auto opened = ask(window, [&](WorkerHandle&) { return Result<Opened>(held->opened); });
    if (!opened) release(window);
    return opened;
  }

  Result<Language> detect_language(WindowId window) override {
    return ask(window, [&](WorkerHandle& worker) { return worker.detect_language(window); });
  }

  Result<Decoded> decode(const DecodeWindow& request) override {
    return ask(request.window, [&](WorkerHandle& worker) { return sensible(worker, worker.decode(request)); });
  }

  Result<Aligned> align(const AlignWindow& request) override {
    return ask(request.window, [&](WorkerHandle& worker) { return worker.align(request); });
  }

  void release(WindowId window) override {
    std::shared_ptr<WorkerHandle> worker;
    {
      PoolShared::Lock lock(pool_->mutex);
      const auto found = windows_.find(window);
      if (found == windows_.end()) return;
      const auto held = found->second;
      windows_.erase(found);
      if (held->opened_with == held->place->grant && held->place->grant != 0) worker = held->place->worker;
      if (!task_.whole) settle(lock, *held->place);
    }
    if (worker) worker->release(window);
    PoolShared::Lock lock(pool_->mutex);
    pool_->pump(lock);
  }

  void correct_length(Seconds audio) override {
    PoolShared::Lock lock(pool_->mutex);
    // Of a recording without speech a window is asked for its language all the same: no longer than the recording.
    if (audio > Seconds(0)) length_ = audio;
    pool_->dispatcher.correct_length(task_.id, audio, pool_->now());
  }

  Use use() const override {
    PoolShared::Lock lock(pool_->mutex);
    Use all;
    Seconds most{-1};
    for (const auto& [device, use] : record_->uses) {
      all.audio += use.audio;
      all.busy += use.busy;
      if (use.audio > most) all.device = pool_->members[device].facts.id;
      most = std::max(most, use.audio);
    }
    all.devices_failed = record_->moves;
    return all;
  }

  std::string where() const override {
    PoolShared::Lock lock(pool_->mutex);
    std::string text;
    for (DeviceIndex device = 0; device < pool_->members.size(); ++device)
      if (std::ranges::any_of(pool_->granted, [&](const auto& at) {
            return at.second->task == task_.id && at.second->device == device;
          }))
        text += (text.empty() ? "" : ",") + pool_->members[device].facts.id;
    return text;
  }

  void when_granted(std::function<void()> fn) override { when_granted_ = std::move(fn); }

  void let_go() override {
    const PoolShared::Lock lock(pool_->mutex);
    let_go_ = true;
    for (const auto& [id, window] : windows_) window->place->changed.notify_all();
  }

 private:
  struct Window {
    std::vector<float> mel;  // until it is released: another device may need it
    std::int32_t n_mels = 0;
    std::int32_t frames = 0;
    std::shared_ptr<PoolPlace> place{};
    GrantId opened_with = 0;  // on the worker of that grant; 0: nowhere
    Opened opened{};
  };

  /// What a call needs of its place, taken under the lock.
  struct Granted {
    std::shared_ptr<WorkerHandle> worker;
    GrantId grant = 0;
    DeviceIndex device = 0;
    int life = 0;
  };

  /// Every window has a place of its own, but those of a whole file share one.
  std::shared_ptr<PoolPlace> place_for(const PoolShared::Lock& lock, Seconds audio) {
    if (task_.whole && whole_ && !record_->ended) return whole_;
    auto place = std::make_shared<PoolPlace>();
    place->task = task_.id;
    place->record = record_;
    place->audio = task_.whole ? task_.audio : audio;
    pool_->line_up(lock, place, false);
    if (place->refused) return place;
    pool_->dispatcher.offer(task_.id, place->audio, 1, pool_->now());
    if (task_.whole) whole_ = place;
    return place;
  }

  Result<Granted> wait_for(PoolPlace& place) {
    PoolShared::Lock lock(pool_->mutex);
    place.changed.wait(lock, [&] { return let_go_ || place.grant != 0 || place.refused; });
    if (let_go_) return fail(Fault::cancelled, "its task is not ours any more");
    if (place.refused) return tl::unexpected<Error>(*place.refused);
    const Granted granted{place.worker, place.grant, place.device, place.life};
    const auto notify = std::exchange(when_granted_, {});
    lock.unlock();
    if (notify) notify();
    return granted;
  }

  /// Asks about a window on the device that it has, or gets; on another one when that fails.
  template <class Ask>
  auto ask(WindowId window, Ask question) -> decltype(question(std::declval<WorkerHandle&>())) {
    const auto held = find(window);
    if (!held) return fail(Fault::internal, "window " + std::to_string(window) + " is not open");
    for (;;) {
      const auto granted = wait_for(*held->place);
      if (!granted) return tl::unexpected<Error>(granted.error());
      if (held->opened_with != granted->grant) {
        auto opened = granted->worker->open(window, held->mel, held->n_mels, held->frames);
        if (!opened) {
          if (moves(*held->place, *granted, opened.error(), window)) continue;
          return tl::unexpected<Error>(opened.error());
        }
        answered(*granted, Seconds(0), Seconds(opened->encode_seconds));
        held->opened = *opened;
        held->opened_with = granted->grant;
      }
      auto answer = question(*granted->worker);
      if (answer) {
        told(*granted, *held, *answer);
        return answer;
      }
      if (!moves(*held->place, *granted, answer.error(), window)) return answer;
    }
  }

  std::shared_ptr<Window> find(WindowId window) {
    PoolShared::Lock lock(pool_->mutex);
    const auto found = windows_.find(window);
    return found == windows_.end() ? nullptr : found->second;
  }

  /// An answer that no model gives is the device's fault: the worker is not asked again.
  Result<Decoded> sensible(WorkerHandle& worker, Result<Decoded> decoded) {
    if (!decoded) return decoded;
    const std::int32_t vocabulary = vocabulary_size();
    const bool known = std::ranges::all_of(
        decoded->tokens, [&](std::int32_t token) { return token >= 0 && (vocabulary == 0 || token < vocabulary); });
    if (known && std::isfinite(decoded->avg_logprob)) return decoded;
    worker.stop(Seconds(0));
    return fail(Fault::device, "its answer is nonsense: tokens outside the vocabulary, or no probability");
  }

  std::int32_t vocabulary_size() {
    PoolShared::Lock lock(pool_->mutex);
    for (const auto& member : pool_->members)
      if (member.ready) return member.ready->n_vocab;
    return 0;
  }

  void told(const Granted& granted, const Window& window, const Decoded& decoded) {
    const Seconds audio(window.frames / kFramesPerSecond);
    {
      const PoolShared::Lock lock(pool_->mutex);
      window.place->decoded = true;
    }
    answered(granted, decoded.request > 0 ? audio : Seconds(0), Seconds(decoded.seconds));
  }
  void told(const Granted& granted, const Window&, const Aligned& aligned) {
    answered(granted, Seconds(0), Seconds(aligned.seconds));
  }
  template <class Other>
  void told(const Granted& granted, const Window&, const Other&) {
    answered(granted, Seconds(0), Seconds(0));
  }

  void answered(const Granted& granted, Seconds audio, Seconds busy) {
    PoolShared::Lock lock(pool_->mutex);
    pool_->members[granted.device].progress_at = pool_->now();
    Use& use = record_->uses[granted.device];
    // A window that is decoded again, or overlaps the one before, or ends in padding: no more than there is.
    if (length_ > Seconds(0)) audio = std::clamp(length_ - told_, Seconds(0), audio);
    told_ += audio;
    use.audio += audio;
    use.busy += busy / pool_->options.time;
  }

  /// Whether a failure is the device's, so that the window is to be tried elsewhere. Else it is the caller's answer.
  bool moves(PoolPlace& place, const Granted& granted, const Error& error, WindowId window) {
    const bool ended = granted.worker->ended().has_value() || error.fault == Fault::device;
    if (!ended && error.fault == Fault::exhausted) granted.worker->release(window);
    PoolShared::Lock lock(pool_->mutex);
    if (pool_->stopping) return false;
    if (place.grant != granted.grant) return true;  // somebody else has said so already
    if (ended) {
      pool_->lost(lock, granted.device, granted.life, error, Blame::device);
      return true;
    }
    const bool full = error.fault == Fault::exhausted;
    pool_->granted.erase(std::exchange(place.grant, 0));
    place.worker.reset();
    const auto verdict =
        pool_->dispatcher.failed(granted.grant, full ? Blame::exhausted : Blame::permanent, error.what, pool_->now());
    const bool again = full && verdict.next == Ruling::Next::retry;
    if (again)
      pool_->line_up(lock, windows_.at(window)->place, true);
    else
      place.refused = error;
    pool_->pump(lock);
    return again;
  }

  /// A place that is not needed any more.
  void settle(const PoolShared::Lock&, PoolPlace& place) {
    if (place.grant != 0) {
      pool_->granted.erase(place.grant);
      pool_->dispatcher.finished(std::exchange(place.grant, 0), pool_->now(), place.decoded);
      return;
    }
    auto& waiting = record_->waiting;
    const auto found = std::ranges::find_if(waiting, [&](const auto& other) { return other.get() == &place; });
    if (found == waiting.end()) return;
    waiting.erase(found);
    pool_->dispatcher.withdraw(task_.id, pool_->now());
    if (!waiting.empty())
      pool_->dispatcher.offer(task_.id, waiting.front()->audio, static_cast<std::int64_t>(waiting.size()),
                              pool_->now());
  }

  const std::shared_ptr<PoolShared> pool_;
  const PoolTask task_;
  std::shared_ptr<PoolTaskRecord> record_{};
  std::map<WindowId, std::shared_ptr<Window>> windows_;  // under the pool's lock
  std::shared_ptr<PoolPlace> whole_{};
  std::function<void()> when_granted_{};  // until it was called
  bool let_go_ = false;
  Seconds length_{};  // of the task's audio; 0: not known
  Seconds told_{};    // of it, as used by devices
};

}  // namespace

std::unique_ptr<PoolTaskEngine> make_task_engine(std::shared_ptr<PoolShared> pool, const PoolTask& task) {
  return std::make_unique<TaskEngine>(std::move(pool), task);
}

}  // namespace tutti
