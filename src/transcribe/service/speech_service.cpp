#include "transcribe/service/speech_service.h"

#include <algorithm>
#include <list>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/periodic_thread.h"
#include "flow/failures.h"
#include "transcribe/pool/pool_machine.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/service/fair_queue.h"
#include "transcribe/service/speech_run.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLookEvery{1};  // at the driver's reports
constexpr double kLatest = 0.1;                // weight of the last request in the mean of their times

int cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Why none of the devices takes work until one of them is resumed; none: one does, or will again by itself.
std::optional<std::string> held_by_drain(const PoolView& view) {
  bool is_drained = false;
  for (const auto& device : view.devices) {
    const bool drains = device.state == name_of(DeviceState::draining);
    is_drained = is_drained || drains;
    const bool is_away = device.state == name_of(DeviceState::lost) ||
                         device.state == name_of(DeviceState::quarantined) || device.state == "failed";
    if (!drains && !is_away) return {};
  }
  if (!is_drained) return {};
  return "no device takes work: they are drained at an operator's request, until one is resumed";
}

class Service final : public SpeechService {
 public:
  Service(const SpeechServiceOptions& options, PoolPlan pool)
      : options_(options),
        time_(pool.time),
        machine_(options_.pool),
        pool_(DevicePool::start(std::move(pool))),
        most_bulk_(static_cast<std::size_t>(threads_of(options_.pool))) {
    starting_ = std::jthread([this] { load_model(); });
    for (std::size_t i = 0; i < 2 * most_bulk_ + static_cast<std::size_t>(cores()); ++i)
      workers_.emplace_back([this] { work(); });
    watching_ = std::make_unique<PeriodicThread>(kLookEvery, [this] {
      machine_.report_gpus(*pool_);
      machine_.look_at_cores();
    });
  }

  ~Service() override {
    stop();
    watching_.reset();
    if (starting_.joinable()) starting_.join();
  }

  bool ready() const override {
    return model_.with([](const auto& model) { return model && *model; });
  }

  Result<void> wait_until_ready() override {
    const auto model = loaded();
    if (!model) return tl::unexpected<Error>(model.error());
    return {};
  }

  std::optional<Error> over() override {
    const auto failed = model_.with([](const auto& model) -> std::optional<Error> {
      if (model && !*model) return model->error();
      return std::nullopt;
    });
    return failed ? failed : pool_->over();
  }

  std::shared_ptr<SpeechTicket> submit(SpeechRequest request) override;
  SpeechLoad load() const override;
  std::size_t bulk_at_once() const override { return most_bulk_; }
  FleetStatus status() const override;
  std::vector<MetricSnapshot> metrics() const override;
  bool cancel(const std::string& id) override;
  bool drain(const std::string& device) override { return pool_->drain(device_id(options_.pool.devices, device)); }
  bool resume(const std::string& device) override { return pool_->resume(device_id(options_.pool.devices, device)); }

  std::optional<std::string> held() const override { return held_by_drain(pool_->view()); }

  bool wait_until_idle(Seconds most) override {
    return queue_.wait_for(most, [](const Queue& queue) { return queue.running.empty() && queue.waiting.size() == 0; });
  }

  void stop() override;

 private:
  using Run = std::shared_ptr<SpeechRun>;
  using Model = Result<std::shared_ptr<const ModelContext>>;

  struct Queue {
    FairQueue<Run> waiting{};
    std::vector<Run> running{};
    std::size_t bulk = 0;  // requests among them that are not interactive
    int cores = 0;         // that decode for one of them
    int bulk_cores = 0;    // for one that is not interactive
    bool stopped = false;
    std::uint64_t last_id = 0;
    SpeechLoad ended{};
    Seconds mean_time{};  // mean time of the latest requests in work
  };

  /// How long the requests that are done took: from their arrival to their end, until they were begun, and of it the
  /// devices' encoder and decoder.
  struct Times {
    Histogram whole{}, waiting{}, encoder{}, decoder{};
  };

  class Ticket;
  class DecodingCore;

  Seconds now() const { return Seconds(Clock::real().now() - started_) / time_; }

  /// Waits for the model, or for why there will be none.
  Model loaded() {
    return model_.wait([](const auto& model) { return model.has_value(); }, [](const auto& model) { return *model; });
  }

  void load_model();
  void work();
  bool can_start(const Queue& queue) const;
  void serve(const Run& run);
  Result<TranscribedFile> transcribe(const Run& run);
  void end(const Run& run, Result<TranscribedFile> file, Seconds took);
  void cancel(const Run& run);

  const SpeechServiceOptions options_;
  const double time_;
  const Clock::Instant started_ = Clock::real().now();
  PoolMachine machine_;
  std::unique_ptr<DevicePool> pool_;
  const std::size_t most_bulk_;
  Guarded<std::optional<Model>> model_{};  // none: it is being loaded
  Guarded<Queue> queue_{};
  Times times_{};
  std::jthread starting_{};
  std::vector<std::jthread> workers_{};
  std::unique_ptr<PeriodicThread> watching_{};
};

class Service::Ticket final : public SpeechTicket {
 public:
  Ticket(Service& service, Run run) : service_(service), run_(std::move(run)) {}
  void cancel() override { service_.cancel(run_); }

 private:
  Service& service_;
  const Run run_;
};

/// A core that decodes for a request, as long as it is there. Bulk leaves one of them to interactive requests.
class Service::DecodingCore {
 public:
  /// Waits for one, or until the request is cancelled.
  DecodingCore(Service& service, const Run& run) : queue_(service.queue_), bulk_(run->is_bulk() ? 1 : 0) {
    const int most = cores() + 1, most_bulk = std::max(1, cores() - 1);
    queue_.wait(
        [&](const Queue& now) {
          return run->cancelled() || (now.cores < most && (bulk_ == 0 || now.bulk_cores < most_bulk));
        },
        [&](Queue& now) { add(now, 1); });
  }
  DecodingCore(const DecodingCore&) = delete;
  DecodingCore& operator=(const DecodingCore&) = delete;
  ~DecodingCore() {
    queue_.change([&](Queue& now) { add(now, -1); });
  }

 private:
  void add(Queue& now, int cores) const {
    now.cores += cores;
    now.bulk_cores += cores * bulk_;
  }

  Guarded<Queue>& queue_;
  const int bulk_;
};

void Service::load_model() {
  const auto set = [this](Model model) { model_.change([&](auto& loaded) { loaded = std::move(model); }); };
  const auto ready = pool_->ready();
  if (!ready) return set(tl::unexpected<Error>(ready.error()));
  machine_.report_gpus(*pool_);  // before the first window is placed
  auto model = load_model_context(options_.pool.run, *ready);
  if (!model) return set(tl::unexpected<Error>(model.error()));
  set(std::make_shared<const ModelContext>(std::move(*model)));
}

bool Service::can_start(const Queue& queue) const {
  return queue.waiting.size(queue.bulk < most_bulk_ ? JobClass::batch : JobClass::interactive) > 0;
}

void Service::work() {
  for (;;) {
    const auto run = queue_.wait([&](const Queue& queue) { return queue.stopped || can_start(queue); },
                                 [&](Queue& queue) -> Run {
                                   if (queue.stopped) return nullptr;
                                   const bool all = queue.bulk < most_bulk_;
                                   auto next = *queue.waiting.pop(all ? JobClass::batch : JobClass::interactive);
                                   queue.running.push_back(next);
                                   queue.bulk += next->is_bulk() ? 1 : 0;
                                   return next;
                                 });
    if (!run) return;
    serve(run);
  }
}

void Service::serve(const Run& run) {
  const auto begun = Clock::real().now();
  auto file = [&]() -> Result<TranscribedFile> {
    try {
      return transcribe(run);
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception(run->request().name));
    }
  }();
  end(run, std::move(file), Clock::real().now() - begun);
}

Result<TranscribedFile> Service::transcribe(const Run& run) {
  const auto model = loaded();
  if (!model) return tl::unexpected<Error>(model.error());
  if (auto begun = run->begin(**model); !begun) return tl::unexpected<Error>(begun.error());
  auto decoded = [&] {
    const DecodingCore core(*this, run);
    return run->decode();
  }();
  if (!decoded) return tl::unexpected<Error>(decoded.error());
  return run->transcribe(std::move(*decoded), *pool_, **model, now());
}

void Service::end(const Run& run, Result<TranscribedFile> file, Seconds took) {
  const bool cancelled = !file && file.error().fault == Fault::cancelled;
  const Seconds audio = file ? file->outcome.duration : Seconds(0);
  const bool done = file.has_value();
  if (done) {
    const Seconds whole = Clock::real().now() - run->submitted;
    times_.whole.record(whole.count());
    times_.waiting.record((whole - took).count());
    times_.encoder.record(file->outcome.spent.encoder.count());
    times_.decoder.record(file->outcome.spent.decoder.count());
  }
  if (done)
    run->request().listener->done(std::move(*file));
  else
    run->request().listener->failed(file.error());
  queue_.change([&](Queue& queue) {
    std::erase(queue.running, run);
    queue.bulk -= run->is_bulk() ? 1 : 0;
    queue.ended.audio_done += audio;
    ++(done ? queue.ended.done : cancelled ? queue.ended.cancelled : queue.ended.failed);
    if (!cancelled) queue.mean_time = queue.mean_time * (1 - kLatest) + took * kLatest;
  });
}

std::shared_ptr<SpeechTicket> Service::submit(SpeechRequest request) {
  Run run;
  queue_.change([&](Queue& queue) {
    run = std::make_shared<SpeechRun>(++queue.last_id, options_.longest, std::move(request));
    if (queue.stopped)
      run->cancel();
    else
      queue.waiting.push(run->request().urgency, run->request().client, run);
  });
  if (run->cancelled()) run->request().listener->failed({Fault::cancelled, "the server is stopping"});
  return std::make_shared<Ticket>(*this, run);
}

void Service::cancel(const Run& run) {
  run->cancel();
  bool waited = false;
  queue_.change([&](Queue& queue) {
    waited = queue.waiting.remove(run);
    queue.ended.cancelled += waited ? 1 : 0;
  });
  if (waited) run->request().listener->failed({Fault::cancelled, "the request was cancelled"});
}

SpeechLoad Service::load() const {
  return queue_.with([&](const Queue& queue) {
    SpeechLoad load = queue.ended;
    load.running = queue.running.size();
    load.waiting = queue.waiting.size();
    load.expected_wait = queue.mean_time * (static_cast<double>(load.waiting) /
                                            static_cast<double>(std::max<std::size_t>(1, most_bulk_)));
    return load;
  });
}

FleetStatus Service::status() const {
  constexpr std::size_t kShown = 100;
  const PoolView view = pool_->view();
  const SpeechLoad now = load();
  std::vector<Run> shown;
  queue_.with([&](const Queue& queue) {
    shown = queue.running;
    queue.waiting.each([&](const Run& run) {
      if (shown.size() < kShown) shown.push_back(run);
    });
  });
  FleetStatus status{.run = "tutti serve",
                     .state_folder = options_.state.string(),
                     .elapsed = view.elapsed,
                     .jobs = now.done + now.failed + now.cancelled + now.running + now.waiting,
                     .done = now.done,
                     .failed = now.failed,
                     .cancelled = now.cancelled,
                     .running = now.running,
                     .audio_done = now.audio_done};
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    auto device = device_status(view.devices[i], options_.pool.devices[i], view.elapsed);
    machine_.describe(i, view.devices[i].process, device);
    if (device.reason.empty()) device.reason = view.devices[i].refusal;
    status.devices.push_back(std::move(device));
  }
  const auto held = held_by_drain(view);
  status.held_up = held.value_or("");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    JobStatus& job = status.in_work.emplace_back(shown[i]->status());
    if (held && job.device.empty()) {
      if (i < now.running) --status.running;
      job.waiting_for = *held;
    } else if (i >= now.running) {
      job.waiting_for = "its turn: " + std::to_string(now.running) + " are in work";
    }
  }
  return status;
}

std::vector<MetricSnapshot> Service::metrics() const {
  const SpeechLoad now = load();
  const auto count = [](std::size_t value) { return static_cast<std::uint64_t>(value); };
  const auto ended = [&](const char* outcome, std::size_t value) {
    return MetricSnapshot{{"tutti_requests_total", {{"outcome", outcome}}}, "requests that have ended", count(value)};
  };
  return {{{"tutti_requests_running"}, "requests in work", static_cast<double>(now.running)},
          {{"tutti_requests_waiting"}, "requests that wait for their turn", static_cast<double>(now.waiting)},
          ended("done", now.done),
          ended("failed", now.failed),
          ended("cancelled", now.cancelled),
          {{"tutti_audio_seconds_total"},
           "audio of requests that are done",
           count(static_cast<std::size_t>(now.audio_done.count()))},
          {{"tutti_request_seconds"}, "from a request's arrival to its end", times_.whole.snapshot()},
          {{"tutti_request_queue_seconds"}, "until it was begun", times_.waiting.snapshot()},
          {{"tutti_request_encode_seconds"}, "of the devices' encoder", times_.encoder.snapshot()},
          {{"tutti_request_decode_seconds"}, "of the devices' decoder", times_.decoder.snapshot()}};
}

bool Service::cancel(const std::string& id) {
  Run found;
  queue_.with([&](const Queue& queue) {
    const auto look = [&](const Run& run) {
      if (run->id() == id) found = run;
    };
    std::ranges::for_each(queue.running, look);
    queue.waiting.each(look);
  });
  if (found) cancel(found);
  return found != nullptr;
}

void Service::stop() {
  std::vector<Run> waiting, running;
  queue_.change([&](Queue& queue) {
    queue.stopped = true;
    while (auto run = queue.waiting.pop()) waiting.push_back(std::move(*run));
    running = queue.running;
  });
  for (const auto& run : waiting) run->request().listener->failed({Fault::cancelled, "the server is stopping"});
  for (const auto& run : running) run->cancel();
  queue_.change([](Queue&) {});  // for those that wait for a core
  pool_->stop(Seconds(0));
  workers_.clear();
}

}  // namespace

Result<std::unique_ptr<SpeechService>> SpeechService::start(const SpeechServiceOptions& options, RunHistory& history) {
  auto pool = plan_pool(options.pool, history);
  if (!pool) return tl::unexpected<Error>(pool.error());
  return std::make_unique<Service>(options, std::move(*pool));
}

}  // namespace tutti
