#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "transcribe/pool/pool_state.h"

namespace tutti {
namespace {

class JobEngineImpl final : public JobEngine {
 public:
  JobEngineImpl(std::shared_ptr<PoolShared> pool, const PoolJob& job)
      : pool_(std::move(pool)), job_(job), length_(job.audio) {
    const PoolShared::Lock lock(pool_->mutex);
    record_ = pool_->record_of(lock, job.id);
    record_->granted = false;
  }

  ~JobEngineImpl() override {
    PoolShared::Lock lock(pool_->mutex);
    if (whole_) settle(lock, *whole_);
    pool_->dispatcher.defer_job(job_.id, pool_->now());  // another job takes its turn among those in work
    pool_->pump(lock);
  }

  Result<Opened> open(const OpenWindow& window, std::span<const float> mel) override {
    auto held = std::make_shared<Window>();
    held->mel.assign(mel.begin(), mel.end());
    held->facts = window;
    {
      PoolShared::Lock lock(pool_->mutex);
      held->reservation = reserve(lock, Seconds(window.frames / kFramesPerSecond));
      windows_[window.window] = held;
      pool_->pump(lock);
    }
    auto opened = on_worker(window.window, [&](WorkerHandle&) { return Result<Opened>(held->opened); });
    if (!opened) release(window.window);
    return opened;
  }

  Result<Language> detect_language(WindowId window) override {
    return on_worker(window, [&](WorkerHandle& worker) { return worker.detect_language(window); });
  }

  Result<Decoded> decode(const DecodeWindow& request) override {
    return on_worker(request.window, [&](WorkerHandle& worker) { return sensible(worker, worker.decode(request)); });
  }

  Result<Aligned> align(const AlignWindow& request) override {
    return on_worker(request.window, [&](WorkerHandle& worker) { return worker.align(request); });
  }

  void release(WindowId window) override {
    std::shared_ptr<WorkerHandle> worker;
    {
      PoolShared::Lock lock(pool_->mutex);
      const auto found = windows_.find(window);
      if (found == windows_.end()) return;
      const auto held = found->second;
      windows_.erase(found);
      if (held->opened_with == held->reservation->grant && held->reservation->grant != 0)
        worker = held->reservation->worker;
      if (!job_.whole) settle(lock, *held->reservation);
    }
    if (worker) worker->release(window);
    PoolShared::Lock lock(pool_->mutex);
    pool_->pump(lock);
  }

  void correct_length(Seconds audio) override {
    PoolShared::Lock lock(pool_->mutex);
    // A recording without speech still has one window that detects its language: no longer than the recording.
    if (audio > Seconds(0)) length_ = audio;
    pool_->dispatcher.correct_length(job_.id, audio, pool_->now());
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
      if (std::ranges::any_of(pool_->granted,
                              [&](const auto& at) { return at.second->job == job_.id && at.second->device == device; }))
        text += (text.empty() ? "" : ",") + pool_->members[device].facts.id;
    return text;
  }

  void when_granted(std::function<void()> fn) override { when_granted_ = std::move(fn); }

  void cancel() override {
    const PoolShared::Lock lock(pool_->mutex);
    cancelled_ = true;
    for (const auto& [id, window] : windows_) {
      window->reservation->changed.notify_all();
      if (window->reservation->worker) window->reservation->worker->cancel(id);
    }
  }

 private:
  struct Window {
    std::vector<float> mel;  // until it is released: another device may need it
    OpenWindow facts{};
    std::shared_ptr<Reservation> reservation{};
    GrantId opened_with = 0;  // on the worker of that grant; 0: nowhere
    Opened opened{};
  };

  /// What a call needs of its reservation, taken under the lock.
  struct Granted {
    std::shared_ptr<WorkerHandle> worker;
    GrantId grant = 0;
    DeviceIndex device = 0;
    int generation = 0;
  };

  /// Every window has a reservation of its own, but those of a whole file share one.
  std::shared_ptr<Reservation> reserve(const PoolShared::Lock& lock, Seconds audio) {
    if (job_.whole && whole_ && !record_->ended) return whole_;
    auto reservation = std::make_shared<Reservation>();
    reservation->job = job_.id;
    reservation->record = record_;
    reservation->audio = job_.whole ? job_.audio : audio;
    pool_->line_up(lock, reservation, false);
    if (reservation->refused) return reservation;
    pool_->dispatcher.offer(job_.id, reservation->audio, 1, pool_->now());
    if (job_.whole) whole_ = reservation;
    return reservation;
  }

  Result<Granted> wait_for(Reservation& reservation) {
    PoolShared::Lock lock(pool_->mutex);
    reservation.changed.wait(lock, [&] { return cancelled_ || reservation.grant != 0 || reservation.refused; });
    if (cancelled_) return fail(Fault::cancelled, "its job is not ours any more");
    if (reservation.refused) return tl::unexpected<Error>(*reservation.refused);
    const Granted granted{reservation.worker, reservation.grant, reservation.device, reservation.generation};
    const auto notify = std::exchange(when_granted_, {});
    lock.unlock();
    if (notify) notify();
    return granted;
  }

  /// Calls the worker of a window on the device that it has, or gets; on another one when that fails.
  template <class Call>
  auto on_worker(WindowId window, Call question) -> decltype(question(std::declval<WorkerHandle&>())) {
    const auto held = find(window);
    if (!held) return fail(Fault::internal, "window " + std::to_string(window) + " is not open");
    for (;;) {
      const auto granted = wait_for(*held->reservation);
      if (!granted) return tl::unexpected<Error>(granted.error());
      if (held->opened_with != granted->grant) {
        auto opened = granted->worker->open(held->facts, held->mel);
        if (!opened) {
          if (moves(*held->reservation, *granted, opened.error(), window)) continue;
          return tl::unexpected<Error>(opened.error());
        }
        answered(*granted, Seconds(0), Seconds(opened->encode_seconds));
        held->opened = *opened;
        held->opened_with = granted->grant;
      }
      auto answer = question(*granted->worker);
      if (answer) {
        record_answer(*granted, *held, *answer);
        return answer;
      }
      if (!moves(*held->reservation, *granted, answer.error(), window)) return answer;
    }
  }

  std::shared_ptr<Window> find(WindowId window) {
    PoolShared::Lock lock(pool_->mutex);
    const auto found = windows_.find(window);
    return found == windows_.end() ? nullptr : found->second;
  }

  /// An answer that no model gives is the device's fault: the worker gets no further call.
  Result<Decoded> sensible(WorkerHandle& worker, Result<Decoded> decoded) {
    if (!decoded) return decoded;
    const std::int32_t vocabulary = vocabulary_size();
    const bool known = std::ranges::all_of(
        decoded->tokens, [&](std::int32_t token) { return token >= 0 && (vocabulary == 0 || token < vocabulary); });
    // Where the log-probabilities of tokens were requested: one each, and one of end-of-text.
    const auto logprobs = decoded->token_logprobs.size();
    const bool complete = logprobs == 0 || logprobs == decoded->tokens.size() || logprobs == decoded->tokens.size() + 1;
    if (known && complete && std::isfinite(decoded->avg_logprob)) return decoded;
    worker.stop(Seconds(0));
    return fail(Fault::device, "its answer is nonsense: tokens outside the vocabulary, or without probability");
  }

  std::int32_t vocabulary_size() {
    PoolShared::Lock lock(pool_->mutex);
    for (const auto& member : pool_->members)
      if (member.ready) return member.ready->n_vocab;
    return 0;
  }

  void record_answer(const Granted& granted, const Window& window, const Decoded& decoded) {
    const Seconds audio(window.frames / kFramesPerSecond);
    {
      const PoolShared::Lock lock(pool_->mutex);
      window.reservation->decoded = true;
    }
    answered(granted, decoded.request > 0 ? audio : Seconds(0), Seconds(decoded.seconds));
  }
  void record_answer(const Granted& granted, const Window&, const Aligned& aligned) {
    answered(granted, Seconds(0), Seconds(aligned.seconds));
  }
  template <class Other>
  void record_answer(const Granted& granted, const Window&, const Other&) {
    answered(granted, Seconds(0), Seconds(0));
  }

  void answered(const Granted& granted, Seconds audio, Seconds busy) {
    PoolShared::Lock lock(pool_->mutex);
    pool_->members[granted.device].progress_at = pool_->now();
    Use& use = record_->uses[granted.device];
    // A window that is decoded again, or overlaps the one before, or ends in padding: no more than there is.
    if (length_ > Seconds(0)) audio = std::clamp(length_ - credited_, Seconds(0), audio);
    credited_ += audio;
    use.audio += audio;
    use.busy += busy / pool_->options.time;
  }

  /// Whether a failure is the device's, so that the window is to be tried elsewhere. Else it is the caller's answer.
  bool moves(Reservation& reservation, const Granted& granted, const Error& error, WindowId window) {
    const bool ended = granted.worker->ended().has_value() || error.fault == Fault::device;
    if (!ended && error.fault == Fault::exhausted) granted.worker->release(window);
    PoolShared::Lock lock(pool_->mutex);
    if (pool_->stopping || cancelled_) return false;      // the caller closes the window
    if (reservation.grant != granted.grant) return true;  // another thread has reported it already
    if (ended) {
      pool_->lost(lock, granted.device, granted.generation, error, Blame::device);
      return true;
    }
    const bool full = error.fault == Fault::exhausted;
    pool_->granted.erase(std::exchange(reservation.grant, 0));
    reservation.worker.reset();
    const auto decision =
        pool_->dispatcher.failed(granted.grant, full ? Blame::exhausted : Blame::permanent, error.what, pool_->now());
    const bool again = full && decision.next == FailureDecision::Next::retry;
    if (again)
      pool_->line_up(lock, windows_.at(window)->reservation, true);
    else
      reservation.refused = error;
    pool_->pump(lock);
    return again;
  }

  /// A reservation that is not needed any more.
  void settle(const PoolShared::Lock&, Reservation& reservation) {
    if (reservation.grant != 0) {
      pool_->granted.erase(reservation.grant);
      pool_->dispatcher.finished(std::exchange(reservation.grant, 0), pool_->now(), reservation.decoded);
      return;
    }
    auto& waiting = record_->waiting;
    const auto found = std::ranges::find_if(waiting, [&](const auto& other) { return other.get() == &reservation; });
    if (found == waiting.end()) return;
    waiting.erase(found);
    pool_->dispatcher.withdraw(job_.id, pool_->now());
    if (!waiting.empty())
      pool_->dispatcher.offer(job_.id, waiting.front()->audio, static_cast<std::int64_t>(waiting.size()), pool_->now());
  }

  const std::shared_ptr<PoolShared> pool_;
  const PoolJob job_;
  std::shared_ptr<PoolJobRecord> record_{};
  std::map<WindowId, std::shared_ptr<Window>> windows_;  // under the pool's lock
  std::shared_ptr<Reservation> whole_{};
  std::function<void()> when_granted_{};  // until it was called
  bool cancelled_ = false;
  Seconds length_{};    // length of the job's audio; 0: not known
  Seconds credited_{};  // part of `length_` that counts as transcribed by a device
};

}  // namespace

std::unique_ptr<JobEngine> make_job_engine(std::shared_ptr<PoolShared> pool, const PoolJob& job) {
  return std::make_unique<JobEngineImpl>(std::move(pool), job);
}

}  // namespace tutti
