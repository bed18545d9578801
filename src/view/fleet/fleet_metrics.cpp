#include <string_view>

#include "base/strings.h"
#include "view/fleet/fleet_status.h"
#include "view/fleet/run_report.h"

namespace tutti {
namespace {

/// What a finding is about, as it stays while the run goes on: of "What limits the run: waiting for input 34 % of the
/// time; without ..." "waiting for input".
std::string limit_in(std::string_view finding) {
  if (finding.starts_with(kFindingStart)) finding.remove_prefix(kFindingStart.size());
  return std::string(trimmed(finding.substr(0, finding.find_first_of(";0123456789"))));
}

}  // namespace

std::vector<MetricSnapshot> fleet_metrics(const std::vector<FleetStatus>& runs) {
  std::vector<MetricSnapshot> metrics;
  const auto add = [&](const char* name, Labels labels, const char* help, double value) {
    metrics.push_back({{name, std::move(labels)}, help, value});
  };
  for (const FleetStatus& run : runs)
    for (const auto& [state, count] : {std::pair{"done", run.done},
                                       {"failed", run.failed},
                                       {"cancelled", run.cancelled},
                                       {"running", run.running},
                                       {"waiting", run.waiting()}})
      add("tutti_run_tasks", {{"run", run.run}, {"state", state}}, "Recordings of a running batch, by state.",
          static_cast<double>(count));
  for (const FleetStatus& run : runs)
    add("tutti_run_audio_done_seconds", {{"run", run.run}}, "Audio that a running batch has transcribed.",
        run.audio_done.count());
  for (const FleetStatus& run : runs)
    for (const DeviceStatus& device : run.devices)
      if (device.busy_share)
        add("tutti_run_device_busy_ratio", {{"run", run.run}, {"device", device.id}},
            "Share of the run so far in which the device had work.", *device.busy_share);
  for (const FleetStatus& run : runs)
    if (!run.finding.empty())
      add("tutti_run_limit_info", {{"run", run.run}, {"limit", limit_in(run.finding)}}, "What limits a running batch.",
          1);
  return metrics;
}

}  // namespace tutti
