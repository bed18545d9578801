#include "serve/server.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "base/field_names.h"
#include "base/files.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "serve/dashboard/dashboard.h"
#include "serve/dashboard/fleet_source.h"
#include "serve/idle_watch.h"
#include "serve/jobs/job_service.h"
#include "transcribe/bucket_outputs.h"

namespace tutti {
namespace {

constexpr Seconds kLookEvery{0.5};  // at whether the devices are gone
constexpr Seconds kLastAnswers{5};  // for answers that are made, and not sent yet

enum class EndSignal { none, requested, aborted };

/// Waits until the server is to stop; an error: it cannot go on. `service`: null where nothing is transcribed; `idle`:
/// null where it never ends for want of work.
Result<ServeEnd> wait_for_end(SpeechService* service, IdleWatch* idle, Guarded<EndSignal>& ending) {
  bool announced = false;
  while (!ending.wait_for(kLookEvery, [](EndSignal now) { return now != EndSignal::none; })) {
    if (idle && idle->is_over()) return ServeEnd::idle;
    if (!service) continue;
    if (auto over = service->over(); over && over->fault != Fault::cancelled) return tl::unexpected<Error>(*over);
    if (!announced && service->ready()) {
      announced = true;
      log(Level::info, "the model is loaded: ready for requests");
    }
  }
  return ServeEnd::requested;
}

/// Lets what is in work end. False: it was cut off.
bool drained(SpeechService* service, const Api& api, HttpServer& http, Guarded<EndSignal>& ending, Seconds most) {
  constexpr Seconds kBeat{0.1};
  const auto until = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(most);
  while ((service && !service->wait_until_idle(kBeat)) || !api.idle()) {
    if (Clock::real().now() >= until) return false;
    if (ending.wait_for(api.idle() ? Seconds(0) : kBeat, [](EndSignal now) { return now == EndSignal::aborted; }))
      return false;
  }
  http.finish(kLastAnswers);
  return true;
}

/// Ends what is in work: nothing calls the jobs any more.
void stop_work(SpeechService* service, JobService* jobs) {
  if (jobs) jobs->abort();
  if (service) service->stop();
}

DashboardOptions page_of(const ServeOptions& options) {
  return {.model = options.api.models ? options.api.models->own() : "",
          .state = options.server ? options.server->text() : options.speech.state.string()};
}

AlertOptions alerts_of(const ServeOptions& options) {
  AlertOptions alerts = options.alerts;
  if (options.api.models) alerts.model = options.api.models->own();
  return alerts;
}

JobServiceOptions jobs_of(const ServeOptions& options) {
  JobServiceOptions jobs{.files = options.job_files,
                         .models = *options.api.models,
                         .usual = options.api.usual,
                         .most_a_client = options.jobs_a_client,
                         .keep = options.keep_jobs};
  jobs.files.state = options.speech.state;
  jobs.files.most_bytes = options.api.max_upload;
  jobs.run = {.command = "tutti serve --model " + options.api.models->own(),
              .batch = "/v1/jobs",
              .model = options.api.models->own(),
              .compute_type = options.speech.pool.run.compute_type};
  return jobs;
}

/// Clients that may stream live audio at once.
std::size_t most_live(const ServeOptions& options) {
  constexpr std::size_t kLiveACore = 3;
  if (options.most_live > 0) return static_cast<std::size_t>(options.most_live);
  return kLiveACore * std::max(1U, std::thread::hardware_concurrency());
}

/// Uploads that find no space would be refused one by one, hours later.
void warn_of_temporary_folder(const ServeOptions& options) {
  if (auto file = open_unnamed_file(); !file)
    return log(Level::warning, file.error().text() + ". Until then every upload is refused");
  constexpr double kBytesASecond = 16000 * sizeof(std::int16_t);  // of a decoded recording
  const auto upload = static_cast<std::int64_t>(options.api.max_upload);
  const auto decoded = static_cast<std::int64_t>(options.speech.longest.count() * kBytesASecond);
  const std::string what = "a recording of " + bytes_text({upload}) + " (" + field("max_upload") + ") and " +
                           bytes_text({decoded}) + " of it decoded (" + field("max_hours") + ")";
  if (auto space = expect_space(temporary_folder(), {upload + decoded}, what,
                                "Larger ones will be refused; name a larger folder with TMPDIR");
      !space)
    log(Level::warning, space.error().text());
}

}  // namespace

Result<ServeEnd> serve(const ServeOptions& options, StopSignal& stop,
                       const std::function<void(std::uint16_t)>& listening) {
  if (options.api.models) warn_of_temporary_folder(options);
  auto store = TRY(open_store({.url = options.server.value_or(StoreUrl(options.speech.state)),
                               .objects = std::make_shared<BucketOutputs>()}));  // of batches on the same store
  std::unique_ptr<AlertWatch> alerts;  // before any job: it counts what ends from its start on
  if (!options.alerts.webhook.url.empty()) {
    alerts = TRY(AlertWatch::start(alerts_of(options), *store));
  }
  std::unique_ptr<SpeechService> service;
  std::unique_ptr<JobService> jobs;
  if (options.api.models) {
    service = TRY(SpeechService::start(options.speech, *store));
    jobs = TRY(JobService::start(jobs_of(options), *service, *store));
  }
  LiveSessions live(most_live(options));
  const auto fleet = service          ? fleet_of(service->control(), *jobs, live)
                     : options.server ? fleet_of_server(*options.server, *store)
                                      : fleet_of_batches(options.speech.state, *store);
  std::unique_ptr<Dashboard> dashboard;
  if (options.dashboard) dashboard = Dashboard::start(page_of(options), *fleet, *store, *store);
  Api api(options.api,
          {.service = service.get(), .jobs = jobs.get(), .store = *store, .live = live, .dashboard = dashboard.get()});
  auto http = HttpServer::start(options.http, api);
  if (!http) {
    stop_work(service.get(), jobs.get());
    return tl::unexpected<Error>(http.error());
  }
  listening((*http)->port());

  Guarded<EndSignal> ending{EndSignal::none};
  stop.on_raise([&] { ending.change([](EndSignal& now) { now = EndSignal::requested; }); });
  stop.on_abort([&] { ending.change([](EndSignal& now) { now = EndSignal::aborted; }); });
  std::optional<IdleWatch> idle;
  if (options.idle_timeout) idle.emplace(*options.idle_timeout, api, service.get(), jobs.get());
  const auto ended = wait_for_end(service.get(), idle ? &*idle : nullptr, ending);
  bool whole = true;
  if (ended) {
    if (*ended == ServeEnd::idle)
      log(Level::info, "no request and no job for " + number_text(options.idle_timeout->count() / 60) + " minutes");
    api.drain();
    if (jobs) jobs->drain();
    if (dashboard) dashboard->close_streams();
    log(Level::info, "stopping: what is in work ends, nothing new is begun");
    whole = drained(service.get(), api, **http, ending, options.drain);
  }
  stop.on_raise({});
  stop.on_abort({});
  stop_work(service.get(), jobs.get());
  (*http)->finish(Seconds(1));
  if (ended && !whole) return fail(Fault::cancelled, "requests in work were cut off");
  return ended;
}

}  // namespace tutti
