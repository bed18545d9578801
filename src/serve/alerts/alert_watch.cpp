#include "serve/alerts/alert_watch.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/log.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLookEvery{2};
constexpr std::size_t kMostRunning = 10000;

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
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
  auto webhook = Webhook::start(options.webhook);
  if (!webhook) return tl::unexpected<Error>(webhook.error());
  return std::make_unique<AlertWatch>(options, store, std::move(*webhook));
}

AlertWatch::AlertWatch(const AlertOptions& options, JobAdmin& store, std::unique_ptr<Webhook> webhook)
    : model_(options.model), store_(store), rules_(options.limits), webhook_(std::move(webhook)) {
  look();  // jobs that end from now on count, those before do not
  looking_ = std::make_unique<PeriodicThread>(kLookEvery, [this] { look(); });
}

void AlertWatch::look() {
  const auto counts = store_.counts({});
  const auto running = store_.jobs({.states = {JobState::running}}, 0, kMostRunning);
  if (!counts || !running) return;  // the store is busy: the next look is soon
  const Seconds now = std::chrono::steady_clock::now().time_since_epoch();
  const double at = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const Alert& alert : rules_.look(now, *counts, *running)) {
    log(alert.firing ? Level::warning : Level::info, "alert " + alert.rule + ": " + alert.text);
    webhook_->send(alert_json(alert, at, own_host(), model_));
  }
}

}  // namespace tutti
