#include "serve/jobs/job_events.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

std::string event_of(const Json& json) {
  return "data: " + json_line(json) + "\n\n";
}

std::string state_event(const std::string& job) {
  return "data: {\"type\":\"job.state\",\"job\":" + job + "}\n\n";
}

Json progress_json(const JobProgress& progress) {
  constexpr double kPercent = 100;
  return {{"type", "job.progress"},
          {"phase", progress.phase},
          {"percent", kPercent * std::clamp(progress.share(), 0.0, 1.0)},
          {"position", progress.position.count()}};
}

std::string segments_event(const JobProgress& progress, const std::vector<Segment>& fresh) {
  Json json = progress_json(progress);
  json["type"] = "job.segments";
  json["segments"] = Json::array();
  for (const Segment& segment : fresh)
    json["segments"].push_back(
        {{"id", segment.id}, {"start", segment.start}, {"end", segment.end}, {"text", segment.text}});
  return event_of(json);
}

}  // namespace

void JobEvents::send(Entry& entry, const std::string& event) {
  std::erase_if(entry.streams, [&](const auto& exchange) {
    const bool sent = exchange->send(event);
    if (!sent) exchange->end_stream();
    return !sent;
  });
}

void JobEvents::drop_if_idle(Jobs& jobs, JobId job) {
  const auto found = jobs.entries.find(job);
  if (found != jobs.entries.end() && !found->second.progress && found->second.streams.empty())
    jobs.entries.erase(found);
}

void JobEvents::begin(JobId job) {
  jobs_.with([&](Jobs& jobs) {
    Entry& entry = jobs.entries[job];
    entry.progress = JobProgress{.phase = "starting"};
    entry.segments.clear();
  });
}

void JobEvents::change(JobId job, const std::function<void(JobProgress&)>& change) {
  jobs_.with([&](Jobs& jobs) {
    const auto found = jobs.entries.find(job);
    if (found == jobs.entries.end() || !found->second.progress) return;
    change(*found->second.progress);
    send(found->second, event_of(progress_json(*found->second.progress)));
  });
}

void JobEvents::phase(JobId job, const std::string& phase) {
  change(job, [&](JobProgress& progress) { progress.phase = phase; });
}

void JobEvents::audio(JobId job, Seconds length) {
  change(job, [&](JobProgress& progress) {
    progress.phase = "transcribing";
    progress.length = length;
  });
}

void JobEvents::segments(JobId job, Seconds position, const std::vector<Segment>& fresh) {
  jobs_.with([&](Jobs& jobs) {
    const auto found = jobs.entries.find(job);
    if (found == jobs.entries.end() || !found->second.progress) return;
    Entry& entry = found->second;
    entry.progress->position = position;
    entry.segments.push_back(segments_event(*entry.progress, fresh));
    send(entry, entry.segments.back());
  });
}

void JobEvents::end(JobId job) {
  jobs_.with([&](Jobs& jobs) {
    const auto found = jobs.entries.find(job);
    if (found == jobs.entries.end()) return;
    found->second.progress.reset();
    found->second.segments.clear();
    drop_if_idle(jobs, job);
  });
}

void JobEvents::state(JobId job, const std::string& json, bool last) {
  jobs_.with([&](Jobs& jobs) {
    const auto found = jobs.entries.find(job);
    if (found == jobs.entries.end()) return;
    if (std::exchange(found->second.state, json) != json) send(found->second, state_event(json));
    if (!last) return;
    for (const auto& exchange : found->second.streams) exchange->end_stream();
    found->second.streams.clear();
    drop_if_idle(jobs, job);
  });
}

void JobEvents::follow(JobId job, const std::string& json, const std::shared_ptr<HttpExchange>& exchange) {
  exchange->begin_stream({.type = "text/event-stream; charset=utf-8", .headers = {{"Cache-Control", "no-cache"}}});
  jobs_.with([&](Jobs& jobs) {
    exchange->send(state_event(json));
    if (jobs.closed) return exchange->end_stream();
    Entry& entry = jobs.entries[job];
    entry.state = json;
    if (entry.progress) exchange->send(event_of(progress_json(*entry.progress)));
    for (const std::string& event : entry.segments) exchange->send(event);
    entry.streams.push_back(exchange);
  });
}

std::vector<JobId> JobEvents::followed() const {
  return jobs_.with([](const Jobs& jobs) {
    std::vector<JobId> found;
    for (const auto& [job, entry] : jobs.entries)
      if (!entry.progress && !entry.streams.empty()) found.push_back(job);
    return found;
  });
}

std::optional<JobProgress> JobEvents::progress(JobId job) const {
  return jobs_.with([&](const Jobs& jobs) -> std::optional<JobProgress> {
    const auto found = jobs.entries.find(job);
    return found == jobs.entries.end() ? std::nullopt : found->second.progress;
  });
}

void JobEvents::close() {
  jobs_.with([](Jobs& jobs) {
    jobs.closed = true;
    for (auto& [job, entry] : jobs.entries) {
      for (const auto& exchange : entry.streams) exchange->end_stream();
      entry.streams.clear();
    }
  });
}

}  // namespace tutti
