#include "serve/dashboard/dashboard.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <vector>

#include "base/field_names.h"
#include "base/guarded.h"
#include "base/json.h"
#include "base/log.h"
#include "base/periodic_thread.h"
#include "base/try.h"
#include "serve/answer_threads.h"
#include "serve/dashboard/dashboard_json.h"
#include "serve/dashboard/history_json.h"
#include "serve/dashboard/samples.h"
#include "serve/jobs/job_json.h"
#include "serve/jobs/job_request.h"
#include "serve/openai/api_error.h"
#include "text/json_bytes.h"

namespace tutti {

// The files of web/, compiled in (CMakeLists.txt).
extern const std::string_view kPageHtml;
extern const std::string_view kPageScript;
extern const std::string_view kPageSpeech;
extern const std::string_view kPageLive;
extern const std::string_view kPageMicrophone;
extern const std::string_view kPageStyle;

namespace {

using Json = nlohmann::ordered_json;

/// A file of the page. The page loads nothing from anywhere else.
struct WebFile {
  std::string_view path;
  std::string_view type;
  std::string_view content;
};

/// Null: there is none.
const WebFile* web_file(std::string_view path) {
  static const WebFile files[] = {{"/", "text/html; charset=utf-8", kPageHtml},
                                  {"/page.js", "text/javascript; charset=utf-8", kPageScript},
                                  {"/speech.js", "text/javascript; charset=utf-8", kPageSpeech},
                                  {"/live.js", "text/javascript; charset=utf-8", kPageLive},
                                  {"/microphone.js", "text/javascript; charset=utf-8", kPageMicrophone},
                                  {"/page.css", "text/css; charset=utf-8", kPageStyle}};
  const auto* found = std::ranges::find(files, path, &WebFile::path);
  return found == std::end(files) ? nullptr : found;
}

constexpr std::chrono::seconds kLookEvery{1};
constexpr std::size_t kMostAudit = 500;
constexpr std::size_t kMostTasks = 256;  // requests that wait for the answering thread

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

HttpAnswer json_answer(const Json& json) {
  return {.body = json_keeping_bytes(json), .headers = {{"Cache-Control", "no-store"}}};
}

class Page final : public Dashboard {
 public:
  Page(DashboardOptions options, FleetSource& fleet, JobAdmin& jobs, RunHistory& history)
      : options_(std::move(options)), fleet_(fleet), jobs_(jobs), history_(history) {
    look();  // so that the first answer is not empty
    looking_ = std::make_unique<PeriodicThread>(kLookEvery, [this] { look(); });
  }

  bool has(const std::string& path) const override { return web_file(path) != nullptr || path.starts_with("/api/"); }
  Begun begin(const HttpHead& head, const Viewer& viewer) override;
  void close_streams() override {
    streams_.with([](auto& streams) {
      for (const Stream& stream : streams) stream.exchange->end_stream();
      streams.clear();
    });
  }

 private:
  using Parameters = std::map<std::string, std::string>;
  using Make = HttpAnswer (Page::*)(const Parameters&, const Viewer& viewer);
  struct Stream {
    std::shared_ptr<HttpExchange> exchange;
    Viewer viewer;
  };
  struct Now {
    StatusView view{};
    std::optional<FleetStatus> fleet{};
  };

  void look();
  void subscribe(const std::shared_ptr<HttpExchange>& exchange, const Viewer& viewer);
  Begun act(const HttpHead& head, const ApiClient& client, const std::string& action);
  /// Fault::refused: this client may not.
  Result<void> check_right(const ApiClient& client, const std::string& action, const std::string& target);
  Result<void> perform(const std::string& action, const std::string& target, const Parameters& parameters);
  Now now() const {
    return now_.with([](const Now& seen) { return seen; });
  }

  HttpAnswer status(const Parameters&, const Viewer& viewer);
  HttpAnswer devices(const Parameters&, const Viewer& viewer);
  HttpAnswer queue(const Parameters& parameters, const Viewer& viewer);
  HttpAnswer history(const Parameters& parameters, const Viewer& viewer);
  HttpAnswer throughput(const Parameters& parameters, const Viewer& viewer);
  HttpAnswer resources(const Parameters&, const Viewer& viewer);
  HttpAnswer audit(const Parameters&, const Viewer& viewer);

  const DashboardOptions options_;
  FleetSource& fleet_;
  JobAdmin& jobs_;
  RunHistory& history_;
  Guarded<Now> now_{};
  struct Samples {
    FleetSamples all{};
    std::map<std::string, FleetSamples> devices{};  // by their ids
  };
  Guarded<Samples> samples_{};
  Guarded<std::vector<Stream>> streams_{};
  Guarded<std::deque<AuditEntry>> audit_{};
  AnswerThreads answering_{1, kMostTasks};
  std::unique_ptr<PeriodicThread> looking_{};
};

Dashboard::Begun Page::begin(const HttpHead& head, const Viewer& viewer) {
  static const std::map<std::string, Make, std::less<>> reads{
      {"/api/status", &Page::status},   {"/api/devices", &Page::devices},       {"/api/queue", &Page::queue},
      {"/api/history", &Page::history}, {"/api/throughput", &Page::throughput}, {"/api/resources", &Page::resources},
      {"/api/audit", &Page::audit}};
  for (const char* action : {"drain", "resume", "cancel", "retry", "priority"})
    if (head.path == std::string("/api/") + action) {
      if (head.method != "POST") return not_allowed("POST");
      if (viewer) return act(head, *viewer, action);
      return answer_of({.status = 401, .message = "without a token the page changes nothing"});
    }
  if (!is_read(head)) return not_allowed("GET");
  if (const WebFile* file = web_file(head.path))
    return HttpAnswer{
        .type = std::string(file->type),
        .body = std::string(file->content),
        .headers = {{"Cache-Control", "no-cache"},
                    {"Content-Security-Policy", "default-src 'self'; media-src blob:; img-src 'self' data:"},
                    {"X-Content-Type-Options", "nosniff"},
                    {"X-Frame-Options", "DENY"}}};
  if (head.path == "/api/events")
    return std::make_unique<EmptyBody>(
        [this, viewer](const std::shared_ptr<HttpExchange>& exchange) { subscribe(exchange, viewer); });
  const auto found = reads.find(head.path);
  if (found == reads.end()) return answer_of({.status = 404, .message = "there is nothing at this address"});
  return answering_.later([this, make = found->second, parameters = query_parameters(head.query), viewer] {
    return (this->*make)(parameters, viewer);
  });
}

void Page::look() {
  auto fleet = fleet_.status();
  std::optional<FleetStatus> seen = fleet ? std::move(*fleet) : std::nullopt;
  const auto counts = jobs_.counts({});
  const double at = unix_now();
  samples_.with([&](Samples& samples) {
    if (!seen) {
      samples.all.add_gap();
      for (auto& [id, device] : samples.devices) device.add_gap();
      return;
    }
    samples.all.add(at, seen->audio_done, busy_share(*seen));
    for (const DeviceStatus& device : seen->devices)
      samples.devices[device.id].add(at, device.audio_done, device.windows > 0 ? 1 : 0);
  });
  const StatusView view{.model = options_.model,
                        .state = options_.state,
                        .at = at,
                        .counts = counts ? std::optional(*counts) : std::nullopt};
  now_.with([&](Now& now) { now = {.view = view, .fleet = seen}; });
  std::map<std::string, std::string> events;  // by the viewer's fingerprint
  streams_.with([&](auto& streams) {
    std::erase_if(streams, [&](const Stream& stream) {
      auto& event = events[stream.viewer ? stream.viewer->fingerprint : ""];
      if (event.empty()) event = "data: " + status_json(view, seen, stream.viewer) + "\n\n";
      const bool sent = stream.exchange->send(event);
      if (!sent) stream.exchange->end_stream();
      return !sent;
    });
  });
}

void Page::subscribe(const std::shared_ptr<HttpExchange>& exchange, const Viewer& viewer) {
  exchange->begin_stream({.type = "text/event-stream; charset=utf-8", .headers = {{"Cache-Control", "no-cache"}}});
  const Now seen = now();
  exchange->send("data: " + status_json(seen.view, seen.fleet, viewer) + "\n\n");
  streams_.with([&](auto& streams) { streams.push_back({exchange, viewer}); });
}

HttpAnswer Page::status(const Parameters&, const Viewer& viewer) {
  const Now seen = now();
  return {.body = status_json(seen.view, seen.fleet, viewer), .headers = {{"Cache-Control", "no-store"}}};
}

HttpAnswer Page::devices(const Parameters&, const Viewer& /*viewer*/) {
  const auto fleet = now().fleet;
  Json json{{"devices", Json::array()}};
  if (fleet) json["devices"] = Json::parse(fleet_status_json(seen_by(std::nullopt, *fleet)))["devices"];
  return json_answer(json);
}

HttpAnswer Page::queue(const Parameters& parameters, const Viewer& viewer) {
  const auto page = read_queue_page(parameters);
  if (!page) return answer_of(api_error_of(page.error(), "state"));
  const auto counts = jobs_.counts({});
  if (!counts) return answer_of(api_error_of(counts.error(), ""));
  // What only the viewer may see is found in its own jobs alone: a search would show others' names.
  JobFilter filter = page->filter;
  if (!page->name.empty() && !(viewer && viewer->is_operator))
    filter.batch = batch_of_client(viewer ? viewer->fingerprint : "");
  auto jobs = jobs_.latest_jobs(filter, page->name, page->before, page->limit);
  if (!jobs) return answer_of(api_error_of(jobs.error(), ""));
  const auto fleet = now().fleet;
  return json_answer(queue_json(*counts, *jobs, fleet, viewer));
}

HttpAnswer Page::history(const Parameters& parameters, const Viewer& viewer) {
  const auto runs = history_.runs(limit_of(parameters, 200, 1000));
  const auto speeds = history_.speeds(/*all=*/false);
  constexpr auto kBack = std::chrono::hours(24 * 30);
  const auto events =
      history_.events(std::chrono::time_point_cast<StoreTime::duration>(std::chrono::system_clock::now() - kBack));
  if (!runs || !speeds || !events)
    return answer_of(api_error_of(!runs ? runs.error() : !speeds ? speeds.error() : events.error(), ""));
  History history{.runs = *runs, .speeds = *speeds, .events = *events};
  if (!viewer || !viewer->is_operator) hide_names(history);
  return {.body = history_json(history), .headers = {{"Cache-Control", "no-store"}}};
}

HttpAnswer Page::throughput(const Parameters& parameters, const Viewer& /*viewer*/) {
  const double minutes = static_cast<double>(limit_of(parameters, 60, 60 * 24 * 30, "minutes"));
  const double at = unix_now();
  std::map<std::string, std::vector<FleetSample>> devices;
  const auto samples = samples_.with([&](const Samples& seen) {
    for (const auto& [id, of_device] : seen.devices) devices[id] = of_device.since(at, minutes * 60);
    return seen.all.since(at, minutes * 60);
  });
  return json_answer(throughput_json(samples, devices, at, minutes));
}

HttpAnswer Page::resources(const Parameters&, const Viewer& /*viewer*/) {
  const auto fleet = now().fleet;
  const auto counts = jobs_.counts({});
  return json_answer(resources_json(fleet, counts ? *counts : JobCounts{}));
}

HttpAnswer Page::audit(const Parameters&, const Viewer& viewer) {
  if (!viewer) return answer_of({.status = 401, .message = "the list of what was done needs a token"});
  std::vector<AuditEntry> seen;
  audit_.with([&](const auto& entries) {
    std::ranges::copy_if(entries, std::back_inserter(seen), [&](const AuditEntry& entry) {
      return viewer->is_operator || entry.fingerprint == viewer->fingerprint;
    });
  });
  return json_answer(audit_json(seen));
}

Dashboard::Begun Page::act(const HttpHead& head, const ApiClient& client, const std::string& action) {
  const auto parameters = query_parameters(head.query);
  const auto found = parameters.find("id");
  const std::string target = found == parameters.end() ? "" : found->second;
  return answering_.later([this, action, target, parameters, client, address = head.address] {
    const auto done = check_right(client, action, target).and_then([&] { return perform(action, target, parameters); });
    log(Level::info, action + " " + target + ", requested by " + client.name + " at " + address +
                         (done ? "" : ": " + done.error().what));
    audit_.with([&](auto& entries) {
      entries.push_front({.at = unix_now(),
                          .action = action,
                          .target = target,
                          .address = address,
                          .client = client.name,
                          .fingerprint = client.fingerprint,
                          .error = done ? "" : done.error().what});
      if (entries.size() > kMostAudit) entries.pop_back();
    });
    if (done) return json_answer({{"ok", true}});
    constexpr int kForbidden = 403;
    const Fault fault = done.error().fault;
    return answer_of({.status = fault == Fault::usage     ? 400
                                : fault == Fault::refused ? kForbidden
                                                          : 404,
                      .message = done.error().text()});
  });
}

Result<void> Page::check_right(const ApiClient& client, const std::string& action, const std::string& target) {
  if (client.is_operator) return {};
  const auto refused = [&](const std::string& what) {
    return fail(Fault::refused, "the token '" + client.name + "' " + what,
                "An operator's token does: it is in the file that " + field("operator_token_file") + " names");
  };
  if (action == "drain" || action == "resume") return refused("does not steer devices");
  if (const auto id = job_id_of(target)) {
    const auto found = TRY(jobs_.jobs({.ids = {*id}}, 0, 1));
    if (!found.empty() && is_of_client(found.front().spec.batch, client.fingerprint)) return {};
  } else if (const auto fleet = fleet_.status(); fleet && *fleet) {
    for (const JobStatus& request : (*fleet)->in_work)
      if (request.id == target && is_of_client(request.client, client.fingerprint)) return {};
  }
  return refused("steers its own work alone, and '" + target.substr(0, 60) + "' is none of it");
}

Result<void> Page::perform(const std::string& action, const std::string& target, const Parameters& parameters) {
  if (action == "drain") return fleet_.drain(target);
  if (action == "resume") return fleet_.resume(target);
  if (action == "cancel") return fleet_.cancel(target);
  const auto id = job_id_of(target);
  if (!id) return fail(Fault::usage, "expected the id of a job, found '" + target + "'");
  if (action == "retry") return fleet_.retry(*id);
  const auto found = parameters.find("priority");
  const auto priority = found == parameters.end() ? std::nullopt : priority_in(found->second);
  if (!priority) return fail(Fault::usage, "priority: expected a whole number from -1000 to 1000");
  return fleet_.set_priority(*id, *priority);
}

}  // namespace

std::unique_ptr<Dashboard> Dashboard::start(DashboardOptions options, FleetSource& fleet, JobAdmin& jobs,
                                            RunHistory& history) {
  return std::make_unique<Page>(std::move(options), fleet, jobs, history);
}

}  // namespace tutti
