#include "doctor/report.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "device/machine.h"
#include "device/nvml/nvml.h"
#include "device/telemetry/metrics.h"
#include "device/telemetry/sampler.h"
#include "doctor/checks.h"
#include "link/control/control_socket.h"
#include "metrics/prometheus.h"
#include "view/fleet/fleet_status.h"

namespace tutti {
namespace {

// A driver without persistence mode takes seconds to wake.
constexpr Seconds kPatience{5}, kLongest{8};
constexpr Seconds kControlPatience{1};  // with a batch that is busy

/// What takes more queries to the driver; a driver that hangs gets none.
Result<Topology> check_topology_and_cuda(const MachineSnapshot& snapshot, Findings& findings) {
  const bool hangs = std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                                 [](const GpuSnapshot& gpu) { return gpu.state == GpuState::hung; });
  if (snapshot.source != "nvml" || snapshot.gpus.empty() || hangs) return Topology{};
  const auto nvml = Nvml::open();
  check_cuda(nvml ? nvml->cuda_version() : std::nullopt, findings);
  return find_topology();
}

/// Where recordings are decoded to, models are kept and results are recorded.
std::vector<std::filesystem::path> watched_disks(const std::filesystem::path& state) {
  return disks_of({temporary_folder(), cache_folder(), state});
}

/// The batches of this user that run now and answer.
std::vector<FleetStatus> running_batches() {
  std::vector<FleetStatus> runs;
  const auto folder = control_folder();
  for (const auto& socket : folder ? control_sockets(*folder) : std::vector<std::filesystem::path>()) {
    const auto answer = send_control_request(socket, "status", kControlPatience);
    auto status = answer ? read_fleet_status(*answer) : tl::unexpected<Error>(answer.error());
    if (status) runs.push_back(std::move(*status));
  }
  return runs;
}

}  // namespace

DoctorReport examine_machine(const std::filesystem::path& state) {
  DoctorReport report;
  Findings& findings = report.findings;
  // It looks at the driver while we look at the rest.
  const Sampler sampler({.period = Seconds(0.2), .pcie_period = Seconds(0), .patience = kPatience});
  check_programs(findings);
  check_processor(findings);
  check_limits(ProcessLimits::of_this_process(), findings);
  report.snapshot = sampler.settled(kLongest);
  check_gpus(*report.snapshot, findings);
  report.topology = check_topology_and_cuda(*report.snapshot, findings);
  check_topology(report.topology, findings);
  check_disks(findings);
  check_state(FolderFacts::of(state), findings);
  check_models(findings);
  return report;
}

std::string machine_metrics(const std::filesystem::path& state) {
  const Sampler sampler({.patience = kPatience, .disks = watched_disks(state)});
  auto metrics = snapshot_metrics(*sampler.settled(kLongest));
  std::ranges::move(fleet_metrics(running_batches()), std::back_inserter(metrics));
  return prometheus_text(metrics);
}

}  // namespace tutti
