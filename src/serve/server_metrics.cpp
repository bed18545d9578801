#include "serve/server_metrics.h"

#include <array>
#include <string_view>

#include "serve/jobs/job_json.h"

namespace tutti {
namespace {

/// "/v1/jobs/ID/result" for every id; "other" for what is no address of ours.
std::string kind_of_path(const HttpHead& head) {
  if (head.method.empty()) return "other";
  constexpr std::array<std::string_view, 9> kExact{"/livez",
                                                   "/readyz",
                                                   "/health",
                                                   "/metrics",
                                                   "/v1/jobs",
                                                   "/v1/audio/transcriptions",
                                                   "/v1/audio/translations",
                                                   "/v1/audio/speech",
                                                   "/v1/realtime"};
  for (const auto path : kExact)
    if (head.path == path) return head.path;
  if (head.path.starts_with("/v1/models")) return "/v1/models";
  if (head.path.starts_with("/api/")) return "/api";
  if (!head.path.starts_with("/v1/jobs/")) return "other";
  for (const std::string_view part : {"/events", "/result", "/retry"})
    if (head.path.ends_with(part)) return "/v1/jobs/ID" + std::string(part);
  return "/v1/jobs/ID";
}

}  // namespace

void HttpCounts::add(const HttpHead& head, const HttpRecord& record) {
  const std::pair key(kind_of_path(head), record.status);
  counts_.with([&](Counts& counts) {
    ++counts.requests[key];
    counts.received += record.received;
    counts.sent += record.sent;
  });
}

std::vector<MetricSnapshot> HttpCounts::metrics() const {
  return counts_.with([](const Counts& counts) {
    std::vector<MetricSnapshot> metrics;
    for (const auto& [key, count] : counts.requests)
      metrics.push_back({{"tutti_http_requests_total", {{"path", key.first}, {"status", std::to_string(key.second)}}},
                         "HTTP requests that have ended; status 0: the client left before its answer",
                         count});
    metrics.push_back({{"tutti_http_received_bytes_total"}, "bodies of HTTP requests", counts.received});
    metrics.push_back({{"tutti_http_sent_bytes_total"}, "bodies of HTTP answers", counts.sent});
    return metrics;
  });
}

std::vector<MetricSnapshot> job_metrics(const std::vector<ClassCount>& open, const JobCounts& all) {
  std::vector<MetricSnapshot> metrics;
  for (const auto& job_class : kJobClassNames)
    for (const JobState state : {JobState::queued, JobState::running, JobState::held}) {
      double jobs = 0;
      for (const ClassCount& count : open)
        if (name_of(count.job_class) == job_class && count.state == state) jobs += static_cast<double>(count.jobs);
      metrics.push_back({{"tutti_jobs", {{"class", std::string(job_class)}, {"state", status_of(state)}}},
                         "jobs that have not ended",
                         jobs});
    }
  for (const auto& [state, jobs] : {std::pair(JobState::done, all.done), std::pair(JobState::dead, all.dead),
                                    std::pair(JobState::cancelled, all.cancelled)})
    metrics.push_back({{"tutti_jobs_ended", {{"state", status_of(state)}}},
                       "jobs in the store that have ended",
                       static_cast<double>(jobs)});
  return metrics;
}

std::vector<MetricSnapshot> device_metrics(const FleetStatus& fleet) {
  std::vector<MetricSnapshot> states, windows, audio;
  for (const DeviceStatus& device : fleet.devices) {
    states.push_back({{"tutti_device_state", {{"device", device.id}, {"state", device.state}}},
                      "1 for the state that a device is in",
                      1.0});
    windows.push_back({{"tutti_device_windows", {{"device", device.id}}},
                       "windows in flight on a device",
                       static_cast<double>(device.windows)});
    audio.push_back({{"tutti_device_audio_seconds_total", {{"device", device.id}}},
                     "audio that a device has transcribed",
                     static_cast<std::uint64_t>(device.audio_done.count())});
  }
  states.insert(states.end(), windows.begin(), windows.end());
  states.insert(states.end(), audio.begin(), audio.end());
  return states;
}

}  // namespace tutti
