#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/files.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/doctor_json.h"
#include "cli/named_model.h"
#include "device/machine.h"
#include "device/nvml/nvml.h"
#include "device/telemetry/metrics.h"
#include "device/telemetry/sampler.h"
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

int print_metrics(const std::filesystem::path& state) {
  const Sampler sampler({.patience = kPatience, .disks = watched_disks(state)});
  auto metrics = snapshot_metrics(*sampler.settled(kLongest));
  std::ranges::move(fleet_metrics(running_batches()), std::back_inserter(metrics));
  std::fputs(prometheus_text(metrics).c_str(), stdout);
  return kDone;
}

int exit_code_of(Finding::Level worst) {
  switch (worst) {
    case Finding::Level::good:
    case Finding::Level::note: return kDone;
    case Finding::Level::broken: return kSomeFailed;
    case Finding::Level::fatal: break;
  }
  return kNothingRan;
}

const char* last_words(Finding::Level worst) {
  if (worst <= Finding::Level::note) return "Nothing is missing.";
  return worst == Finding::Level::broken ? "See the arrows for what to do."
                                         : "Nothing can run like this; see the arrows for what to do.";
}

int print_report(const Findings& findings, const MachineSnapshot& snapshot, const Result<Topology>& topology,
                 bool json) {
  if (json) {
    std::fputs(doctor_json(findings, snapshot, topology.value_or(Topology{})).c_str(), stdout);
  } else {
    std::fputs(findings.text().c_str(), stdout);
    if (topology && topology->gpus.size() > 1) std::printf("\n%s\n", topology_table(*topology).c_str());
    std::puts(last_words(findings.worst()));
  }
  return exit_code_of(findings.worst());
}

}  // namespace

int run_doctor(const std::vector<std::string>& arguments) {
  bool json = false, prometheus = false;
  std::filesystem::path state = state_folder();
  OptionTable table("doctor",
                    "Report what this machine has, what is missing or unwell, and what to do about each: programs and "
                    "libraries, processor, limits, NVIDIA driver, GPUs and the links between them, disks, the store of "
                    "batches, models. "
                    "Exit code 0: nothing is missing, 3: something is broken, 4: nothing can run.");
  table.add_switch("json", json, "the report as one JSON object, with the GPUs and their topology");
  table.add_switch("prometheus", prometheus,
                   "only the metrics of the machine and of running batches, in Prometheus' text format (for "
                   "node_exporter's textfile collector)");
  table.add("state", state, "DIR", "the folder of the store of 'tutti batch'");
  table.examples({"tutti doctor", "tutti doctor --json"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (json && prometheus)
    return complain({Fault::usage, "--json and --prometheus are two forms of one report", "Give one of them"}, kUsage);
  const auto named = store_named(state, "");
  if (!named) return complain(named.error(), kUsage);
  state = named->folder;
  if (prometheus) return print_metrics(state);

  Findings findings;
  // It looks at the driver while we look at the rest.
  const Sampler sampler({.period = Seconds(0.2), .pcie_period = Seconds(0), .patience = kPatience});
  check_programs(findings);
  check_processor(findings);
  check_limits(ProcessLimits::of_this_process(), findings);
  const auto snapshot = sampler.settled(kLongest);
  check_gpus(*snapshot, findings);
  const auto topology = check_topology_and_cuda(*snapshot, findings);
  check_topology(topology, findings);
  check_disks(findings);
  check_state(FolderFacts::of(state), findings);
  check_models(findings);
  return print_report(findings, *snapshot, topology, json);
}

}  // namespace tutti
