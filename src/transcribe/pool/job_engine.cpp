#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.h"
#include "base/units.h"
#include "transcribe/pcm_window.h"
#include "transcribe/pool/job_capacity.h"

namespace tutti {
namespace {

/// What an answer counts as: of the job's audio, and of the device's time.
struct Credit {
  Seconds audio{}, busy{};
  bool decoded = false;
};

Credit credit_of(const Decoded& decoded, Seconds window) {
  return {decoded.request > 0 ? window : Seconds(0), Seconds(decoded.seconds), true};
}
Credit credit_of(const Aligned& aligned, Seconds) {
  return {.busy = Seconds(aligned.seconds)};
}
Credit credit_of(const Transcribed& answer, Seconds window) {
  return {window, Seconds(answer.seconds), true};
}
template <class Other>
Credit credit_of(const Other&, Seconds) {
  return {};
}

std::int32_t vocabulary_of(PoolShared& shared) {
  const auto pool = shared.lock();
  for (const auto& member : pool->members)
    if (member.ready) return member.ready->n_vocab;
  return 0;
}

/// An answer that no model gives is the device's fault: the worker gets no further call.
Result<Decoded> checked_answer(PoolShared& pool, WorkerHandle& worker, Result<Decoded> decoded) {
  if (!decoded) return decoded;
  const std::int32_t vocabulary = vocabulary_of(pool);
  const bool known = std::ranges::all_of(
      decoded->tokens, [&](std::int32_t token) { return token >= 0 && (vocabulary == 0 || token < vocabulary); });
  // Where the log-probabilities of tokens were requested: one each, and one of end-of-text.
  const auto logprobs = decoded->token_logprobs.size();
  const bool complete = logprobs == 0 || logprobs == decoded->tokens.size() || logprobs == decoded->tokens.size() + 1;
  if (known && complete && std::isfinite(decoded->avg_logprob)) return decoded;
  worker.stop(Seconds(0));
  return fail(Fault::device, "its answer is nonsense: tokens outside the vocabulary, or without probability");
}

/// The same of what a network for speakers makes.
Result<SpeakersAnalyzed> checked_answer(WorkerHandle& worker, Result<SpeakersAnalyzed> answer) {
  if (!answer) return answer;
  if (std::ranges::all_of(answer->values, [](float value) { return std::isfinite(value); })) return answer;
  worker.stop(Seconds(0));
  return fail(Fault::device, "its answer is nonsense: scores of speakers that are no numbers");
}

/// What finding speakers in so much audio counts as, for the scheduler: transcribing a twentieth of it.
Seconds transcription_like(const AnalyzeSpeakers& request) {
  const double per_second = request.network == "embedding" ? kFramesPerSecond : kModelRate.value;
  double length = 0;
  for (const std::int32_t one : request.lengths) length += one;
  return Seconds(length / per_second / 20);
}

/// The same of a text.
Result<Transcribed> checked_answer(WorkerHandle& worker, Result<Transcribed> answer, Seconds window) {
  if (!answer) return answer;
  const auto transcript = transcript_of(*answer, window);
  if (transcript && std::isfinite(answer->seconds) && answer->seconds >= 0) return answer;
  worker.stop(Seconds(0));
  return fail(Fault::device,
              "its answer is nonsense: " + (transcript ? "a time that is no number" : transcript.error().what));
}

class JobEngineImpl final : public JobEngine {
 public:
  JobEngineImpl(std::shared_ptr<PoolShared> pool, const PoolJob& job)
      : pool_(std::move(pool)), capacity_(*pool_, job) {}

  Result<Opened> open(const OpenWindow& facts, std::span<const float> mel) override {
    const WindowId window = facts.window;
    auto held = std::make_shared<Window>();
    held->mel.assign(mel.begin(), mel.end());
    held->facts = facts;
    {
      const auto pool = pool_->lock();
      held->reservation = capacity_.reserve(*pool, held->facts.length());
      windows_[window] = held;
      pool->pump();
    }
    auto opened = on_worker(window, [&](WorkerHandle&) { return Result<Opened>(held->opened); });
    if (!opened) release(window);
    return opened;
  }

  Result<Language> detect_language(WindowId window) override {
    return on_worker(window, [&](WorkerHandle& worker) { return worker.detect_language(window); });
  }

  Result<Decoded> decode(const DecodeWindow& request) override {
    return on_worker(request.window,
                     [&](WorkerHandle& worker) { return checked_answer(*pool_, worker, worker.decode(request)); });
  }

  Result<Aligned> align(const AlignWindow& request) override {
    return on_worker(request.window, [&](WorkerHandle& worker) { return worker.align(request); });
  }

  Result<Transcribed> transcribe(const TranscribeWindow& request) override {
    const auto held = find(request.window);
    const Seconds length = held ? held->facts.length() : Seconds(0);
    return on_worker(request.window,
                     [&](WorkerHandle& worker) { return checked_answer(worker, worker.transcribe(request), length); });
  }

  Result<SpeakersAnalyzed> analyze_speakers(const AnalyzeSpeakers& request, std::span<const float> inputs) override {
    const auto held = std::make_shared<Window>();
    {
      const auto pool = pool_->lock();
      held->reservation = capacity_.reserve(*pool, transcription_like(request));
      windows_[request.window] = held;
      pool->pump();
    }
    auto answer = speakers_by_worker(request, inputs, held->reservation);
    release(request.window);
    return answer;
  }

  bool has_gpu() const override {
    const auto pool = pool_->lock();
    return std::ranges::any_of(pool->members, [](const PoolMember& member) { return member.facts.is_gpu; });
  }

  void release(WindowId window) override {
    std::shared_ptr<WorkerHandle> worker;
    {
      const auto pool = pool_->lock();
      const auto found = windows_.find(window);
      if (found == windows_.end()) return;
      const auto held = found->second;
      windows_.erase(found);
      if (held->opened_with == held->reservation->grant && held->reservation->grant != 0)
        worker = held->reservation->worker;
      capacity_.settle(*pool, *held->reservation);
    }
    if (worker) worker->release(window);
    pool_->lock()->pump();
  }

  void correct_length(Seconds audio) override { capacity_.correct_length(audio); }
  Use use() const override { return capacity_.use(); }
  std::string where() const override { return capacity_.where(); }
  void when_granted(std::function<void()> fn) override { capacity_.when_granted(std::move(fn)); }

  void cancel() override {
    const auto pool = pool_->lock();
    capacity_.cancel(*pool);
    for (const auto& [id, window] : windows_) {
      window->reservation->changed.notify_all();
      if (window->reservation->worker) window->reservation->worker->cancel(id);
    }
  }

 private:
  struct Window {
    std::vector<float> mel;  // or PCM; until it is released: another device may need it
    OpenWindow facts{};
    std::shared_ptr<Reservation> reservation{};
    GrantId opened_with = 0;  // on the worker of that grant; 0: nowhere
    Opened opened{};
  };

  /// Calls the worker of a window on the device that it has, or gets; on another one when that fails.
  template <class Call>
  auto on_worker(WindowId window, Call call) -> decltype(call(std::declval<WorkerHandle&>())) {
    const auto held = find(window);
    if (!held) return fail(Fault::internal, "window " + std::to_string(window) + " is not open");
    for (;;) {
      const auto granted = TRY(capacity_.wait_for(*held->reservation));
      if (held->opened_with != granted.grant) {
        auto opened = granted.worker->open(held->facts, held->mel);
        if (!opened) {
          if (capacity_.moves(held->reservation, granted, opened.error(), window)) continue;
          return tl::unexpected<Error>(opened.error());
        }
        capacity_.answered(granted, Seconds(0), Seconds(opened->encode_seconds));
        held->opened = *opened;
        held->opened_with = granted.grant;
      }
      auto answer = call(*granted.worker);
      if (answer) {
        const Credit credit = credit_of(*answer, held->facts.length());
        if (credit.decoded) mark_decoded(*held->reservation);
        capacity_.answered(granted, credit.audio, credit.busy);
        return answer;
      }
      if (!capacity_.moves(held->reservation, granted, answer.error(), window)) return answer;
    }
  }

  /// On the device that it has, or gets; on another one when that fails. Nothing stays there.
  Result<SpeakersAnalyzed> speakers_by_worker(const AnalyzeSpeakers& request, std::span<const float> inputs,
                                              const std::shared_ptr<Reservation>& reservation) {
    for (;;) {
      const auto granted = TRY(capacity_.wait_for(*reservation));
      auto answer = checked_answer(*granted.worker, granted.worker->analyze_speakers(request, inputs));
      if (answer) capacity_.answered(granted, Seconds(0), Seconds(answer->seconds));
      if (answer || !capacity_.moves(reservation, granted, answer.error(), request.window)) return answer;
    }
  }

  std::shared_ptr<Window> find(WindowId window) {
    const auto pool = pool_->lock();
    const auto found = windows_.find(window);
    return found == windows_.end() ? nullptr : found->second;
  }

  void mark_decoded(Reservation& reservation) {
    const auto pool = pool_->lock();
    reservation.decoded = true;
  }

  const std::shared_ptr<PoolShared> pool_;
  JobCapacity capacity_;
  std::map<WindowId, std::shared_ptr<Window>> windows_;  // under the pool's lock
};

}  // namespace

std::unique_ptr<JobEngine> make_job_engine(std::shared_ptr<PoolShared> pool, const PoolJob& job) {
  return std::make_unique<JobEngineImpl>(std::move(pool), job);
}

}  // namespace tutti
