#include "serve/alerts/alert_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/environment.h"
#include "base/json.h"
#include "base/log.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLookEvery{2};
constexpr std::size_t kMostRunning = 10000;

StoreTime wall_time() {
  return std::chrono::time_point_cast<StoreTime::duration>(std::chrono::system_clock::now());
}

Seconds monotonic_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

std::string alert_json(const Alert& alert, double at, const std::string& host, const std::string& model) {
  nlohmann::ordered_json json{{"alert", alert.rule}, {"state", alert.firing ? "firing" : "resolved"},
                              {"text", alert.text},  {"at", at},
                              {"host", host},        {"model", model}};
  json["jobs"] = nlohmann::ordered_json::array();
  for (const JobId job : alert.jobs) json["jobs"].push_back(std::to_string(job));
  return json_line(json);
}

Result<std::unique_ptr<AlertWatch>> AlertWatch::start(const AlertOptions& options, JobAdmin& store) {
  auto webhook = TRY(Webhook::start(options.webhook));
  return std::make_unique<AlertWatch>(options, store, std::move(webhook));
}

AlertWatch::AlertWatch(const AlertOptions& options, JobAdmin& store, std::unique_ptr<Webhook> webhook)
    : model_(options.model), store_(store), rules_(options.limits), webhook_(std::move(webhook)) {
  const auto now = wall_time();
  const auto ended = store_.ended_since(now - std::chrono::hours(1));  // also before this server's start
  if (ended)
    for (const EndedJobs& minute : *ended)
      rules_.add_ended(monotonic_now(), now - minute.minute, minute.done, minute.failed);
  look();
  looking_ = std::make_unique<PeriodicThread>(kLookEvery, [this] { look(); });
}

/// Looked at only where it decides: jobs wait, and none is in work.
bool AlertWatch::may_begin(const JobCounts& counts) {
  constexpr std::size_t kMostWaiting = 1000;
  if (counts.queued == 0 || counts.running > 0) return true;
  const auto waiting = store_.jobs({.states = {JobState::queued}}, 0, kMostWaiting);
  if (!waiting || waiting->size() == kMostWaiting) return true;
  return std::ranges::any_of(*waiting, [now = wall_time()](const Job& job) { return job.not_before <= now; });
}

void AlertWatch::look() {
  const auto counts = store_.counts({});
  const auto running = store_.jobs({.states = {JobState::running}}, 0, kMostRunning);
  if (!counts || !running) return;  // the store is busy: the next look is soon
  const Seconds now = monotonic_now();
  const double at = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const Alert& alert : rules_.look(now, *counts, *running, may_begin(*counts))) {
    log(alert.firing ? Level::warning : Level::info, "alert " + alert.rule + ": " + alert.text);
    webhook_->send(alert_json(alert, at, host_name(), model_));
  }
}

}  // namespace tutti
