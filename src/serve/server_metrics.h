#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "jobs/job_admin.h"
#include "metrics/prometheus.h"
#include "serve/http/http.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// Counts how requests of HTTP end. Thread-safe.
class HttpCounts {
 public:
  void add(const HttpHead& head, const HttpRecord& record);
  /// tutti_http_requests_total{path, status}, and bytes in and out. Paths are those of the API with what clients choose
  /// in them left out, so that there are few.
  std::vector<MetricSnapshot> metrics() const;

 private:
  struct Counts {
    std::map<std::pair<std::string, int>, std::uint64_t> requests{};
    std::uint64_t received = 0, sent = 0;
  };
  Guarded<Counts> counts_{};
};

// What Prometheus scrapes of a server beside that. Pure.

/// tutti_jobs{class, state} of the jobs that have not ended, and tutti_jobs_ended{state} of the others.
std::vector<MetricSnapshot> job_metrics(const std::vector<ClassCount>& open, const JobCounts& all);
/// tutti_device_... of each device: its state, windows in flight, and audio.
std::vector<MetricSnapshot> device_metrics(const FleetStatus& fleet);

}  // namespace tutti
