#include "transcribe/service/speech_service.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/field_names.h"
#include "base/periodic_thread.h"
#include "base/try.h"
#include "flow/failures.h"
#include "transcribe/pool/pool_machine.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/service/service_control.h"

namespace tutti {
namespace {

constexpr std::uint64_t kFirstLive = std::uint64_t{1} << 62;  // the pool's jobs below are requests
constexpr std::chrono::seconds kLookEvery{1};                 // at the driver's reports

int cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

class Service final : public SpeechService {
 public:
  Service(const SpeechServiceOptions& options, PoolPlan pool);
  ~Service() override;

  bool ready() const override {
    return model_.with([](const auto& model) { return model && *model; });
  }
  Result<void> wait_until_ready() override {
    return loaded().map([](const auto&) {});
  }
  std::vector<std::string> languages() const override {
    return model_.with([](const auto& model) -> std::vector<std::string> {
      if (!model || !*model || !(**model)->tokenizer.special().multilingual) return {};
      return (**model)->tokenizer.special().language_codes;
    });
  }
  std::optional<Error> over() override;
  std::shared_ptr<SpeechTicket> submit(SpeechRequest request) override;
  Result<std::unique_ptr<LiveStream>> listen(const SpeechOptions& options, CaptionListener& listener) override;
  SpeechLoad load() const override { return queue_.load(); }
  std::size_t bulk_at_once() const override { return most_bulk_; }
  ServiceControl& control() override { return control_; }
  bool wait_until_idle(Seconds most) override { return queue_.wait_until_idle(most); }
  void stop() override;

 private:
  using Run = RequestQueue::Run;
  using Model = Result<std::shared_ptr<const ModelContext>>;

  /// Waits for the model, or for why there will be none.
  Model loaded() {
    return model_.wait([](const auto& model) { return model.has_value(); }, [](const auto& model) { return *model; });
  }

  Model load_model();
  void serve(const Run& run);
  Result<TranscribedFile> transcribe(const Run& run);

  const SpeechServiceOptions options_;
  const double time_;
  const Clock::Instant started_ = Clock::real().now();
  PoolMachine machine_;
  std::unique_ptr<DevicePool> pool_;
  const std::size_t most_bulk_;
  RequestQueue queue_;
  RequestControl control_;
  Guarded<std::optional<Model>> model_{};  // none: it is being loaded
  std::atomic<std::uint64_t> last_live_{kFirstLive};
  std::jthread starting_{};
  std::vector<std::jthread> workers_{};
  std::unique_ptr<PeriodicThread> watching_{};
};

class Ticket final : public SpeechTicket {
 public:
  Ticket(RequestQueue& queue, RequestQueue::Run run) : queue_(queue), run_(std::move(run)) {}
  void cancel() override { cancel_request(queue_, run_); }

 private:
  RequestQueue& queue_;
  const RequestQueue::Run run_;
};

Service::Service(const SpeechServiceOptions& options, PoolPlan pool)
    : options_(options),
      time_(pool.time),
      machine_(options_.pool),
      pool_(DevicePool::start(std::move(pool))),
      most_bulk_(static_cast<std::size_t>(threads_of(options_.pool))),
      queue_(most_bulk_, cores()),
      control_(options_, *pool_, machine_, queue_) {
  starting_ = std::jthread([this] {
    auto model = load_model();
    model_.change([&](auto& loaded) { loaded = std::move(model); });
  });
  for (std::size_t i = 0; i < 2 * most_bulk_ + static_cast<std::size_t>(cores()); ++i)
    workers_.emplace_back([this] {
      while (const auto run = queue_.next()) serve(run);
    });
  watching_ = std::make_unique<PeriodicThread>(kLookEvery, [this] {
    machine_.report_gpus(*pool_);
    machine_.look_at_cores();
  });
}

Service::~Service() {
  stop();
  watching_.reset();
  if (starting_.joinable()) starting_.join();
}

Service::Model Service::load_model() {
  const auto ready = TRY(pool_->ready());
  machine_.report_gpus(*pool_);  // before the first window is placed
  auto model = TRY(load_model_context(options_.pool.run, ready));
  return std::make_shared<const ModelContext>(std::move(model));
}

std::optional<Error> Service::over() {
  const auto failed = model_.with([](const auto& model) -> std::optional<Error> {
    if (model && !*model) return model->error();
    return std::nullopt;
  });
  return failed ? failed : pool_->over();
}

std::shared_ptr<SpeechTicket> Service::submit(SpeechRequest request) {
  auto run = queue_.add(std::move(request), options_.longest);
  if (run->cancelled()) run->request().listener->failed({Fault::cancelled, "the server is stopping"});
  return std::make_shared<Ticket>(queue_, std::move(run));
}

Result<std::unique_ptr<LiveStream>> Service::listen(const SpeechOptions& options, CaptionListener& listener) {
  const auto model = model_.with([](const auto& loaded) { return loaded; });
  if (!model) return fail(Fault::unavailable, "the model is being loaded");
  if (!*model) return tl::unexpected<Error>(model->error());
  return LiveStream::start(*pool_, ***model, options, ++last_live_, listener);
}

void Service::serve(const Run& run) {
  const FieldNamesScope names(FieldNames::fields);  // its client knows those, whatever this program's command line is
  const auto begun = Clock::real().now();
  auto file = [&]() -> Result<TranscribedFile> {
    try {
      return transcribe(run);
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception(run->request().name));
    }
  }();
  const Seconds took = Clock::real().now() - begun;
  const auto audio = file.map([](const TranscribedFile& done) { return done.outcome.duration; });
  if (file) queue_.record(*run, file->outcome, took);
  if (file)
    run->request().listener->done(std::move(*file));
  else
    run->request().listener->failed(file.error());
  queue_.end(run, audio, took);
}

Result<TranscribedFile> Service::transcribe(const Run& run) {
  const auto model = TRY(loaded());
  TRY(run->begin(*model));
  auto decoded = TRY([&] {
    const RequestQueue::Core core(queue_, run);
    return run->decode();
  }());
  const Seconds now = Seconds(Clock::real().now() - started_) / time_;  // by the pool's clock
  return run->transcribe(std::move(decoded), *pool_, *model, now);
}

void Service::stop() {
  for (const auto& run : queue_.close()) run->request().listener->failed({Fault::cancelled, "the server is stopping"});
  pool_->stop(Seconds(0));
  workers_.clear();
}

}  // namespace

Result<std::unique_ptr<SpeechService>> SpeechService::start(const SpeechServiceOptions& options, RunHistory& history) {
  auto pool = TRY(plan_pool(options.pool, history));
  return std::make_unique<Service>(options, std::move(pool));
}

}  // namespace tutti
