#include "base/field_names.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "device/proc_text.h"
#include "doctor/checks.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr double kNearSlowdown = 5;  // degrees

std::string degrees(double celsius) {
  return short_number(celsius) + " °C";
}

/// NVIDIA's display and 3D controllers on the PCI bus, whether or not a driver serves them.
int cards_on_bus(const fs::path& root) {
  int count = 0;
  std::error_code gone;
  for (const auto& device : fs::directory_iterator(root / "sys/bus/pci/devices", gone))
    if (trimmed(read_system_file(device.path() / "vendor").value_or("")) == "0x10de" &&
        read_system_file(device.path() / "class").value_or("").starts_with("0x03"))
      ++count;
  return count;
}

/// No source of GPU data: why, as far as the system shows it.
void check_absence(const MachineSnapshot& snapshot, const fs::path& root, Findings& findings) {
  std::error_code gone;
  const std::string why = snapshot.notes.empty() ? "the NVIDIA driver does not answer" : snapshot.notes.front();
  if (fs::exists(root / "dev/nvidiactl", gone))
    return findings.broken(
        "driver", why,
        "The devices are here, but the driver's library is not: in a container, run it with NVIDIA's "
        "container toolkit (--gpus all); else reinstall the driver");
  if (const int cards = cards_on_bus(root))
    return findings.broken("driver", std::to_string(cards) + " NVIDIA card(s) on the PCI bus; " + why,
                           "Install NVIDIA's driver 580 or newer, or restart after installing it");
  findings.note("GPU", "none: " + why);
}

void add_errors(const GpuSnapshot& gpu, const std::string& thing, Findings& findings) {
  if (gpu.errors.ecc_uncorrected.value_or(0) > 0)
    findings.broken(thing, std::to_string(*gpu.errors.ecc_uncorrected) + " memory errors that could not be corrected",
                    "Reset the GPU (nvidia-smi --gpu-reset); have it replaced when they come back");
  if (gpu.errors.recovery_action && *gpu.errors.recovery_action != "none")
    findings.broken(thing, "the driver requests recovery", *gpu.errors.recovery_action);
  if (gpu.errors.xids)
    for (const auto& [code, xid] : *gpu.errors.xids)
      findings.broken(thing, "the driver reported Xid " + std::to_string(code) + " just now",
                      "dmesg | grep Xid; NVIDIA's XID documentation explains it");
}

void add_strain(const GpuSnapshot& gpu, const std::string& thing, Findings& findings) {
  if (gpu.throttled_by)
    for (const auto& reason : *gpu.throttled_by) {
      const bool by_heat = reason.key.find("thermal") != std::string_view::npos || reason.key == "hw_slowdown";
      findings.note(thing, "slower than it could be: " + std::string(reason.words),
                    by_heat ? "Look after its cooling" : "");
    }
  const auto& heat = gpu.temperatures;
  if (heat.gpu && heat.slowdown_limit && *heat.gpu > *heat.slowdown_limit - kNearSlowdown)
    findings.note(thing, degrees(*heat.gpu) + ", and it slows down at " + degrees(*heat.slowdown_limit),
                  "Look after its cooling");
  if (gpu.utilisation.doubt)
    findings.note(thing, "its utilisation cannot be true: it " + *gpu.utilisation.doubt,
                  "Tutti goes by its own work; running a CUDA program once clears it");
  if (gpu.memory.foreign && gpu.memory.foreign->value > 0 && gpu.memory.total &&
      gpu.memory.foreign->value > gpu.memory.total->value / 10)
    findings.note(thing, "other programs hold " + bytes_text(*gpu.memory.foreign) + " of its memory");
  if (!gpu.cuda_order) findings.note(thing, "hidden by CUDA_VISIBLE_DEVICES", "Unset it, or add " + gpu.uuid);
}

std::string identity(const GpuSnapshot& gpu) {
  std::string text = gpu.name.value_or("GPU of unknown name") + ", " + gpu.uuid;
  if (gpu.pci_bus_id) text += ", bus " + *gpu.pci_bus_id;
  if (gpu.cuda_order) text += ", cuda:" + std::to_string(*gpu.cuda_order);
  if (gpu.memory.total) text += ", " + bytes_text(*gpu.memory.total);
  if (gpu.memory.free) text += ", " + bytes_text(*gpu.memory.free) + " free";
  if (gpu.mig.value_or(false)) text += ", cut into " + std::to_string(gpu.mig_devices.size()) + " slices";
  return text;
}

void check_gpu(const GpuSnapshot& gpu, Findings& findings) {
  const std::string thing = gpu.index ? "GPU " + std::to_string(*gpu.index) : "GPU";
  switch (gpu.state) {
    case GpuState::lost:
      return findings.broken(thing, identity(gpu) + ": lost; " + gpu.reason,
                             "dmesg | grep -i nvrm shows why; it takes a reset of the GPU or of the machine");
    case GpuState::hung:
      return findings.broken(thing, identity(gpu) + ": " + gpu.reason,
                             "Programs on it may be stuck; it takes a reset of the GPU or of the machine");
    case GpuState::ok: findings.good(thing, identity(gpu));
  }
  if (gpu.mig.value_or(false) && gpu.mig_devices.empty())
    findings.broken(thing, "in MIG mode without a slice: CUDA sees nothing",
                    "nvidia-smi mig -cgi … -C makes slices, nvidia-smi -mig 0 leaves the mode");
  add_errors(gpu, thing, findings);
  add_strain(gpu, thing, findings);
}

}  // namespace

void check_gpus(const MachineSnapshot& snapshot, Findings& findings, const fs::path& root) {
  if (snapshot.driver_hangs)
    findings.broken("driver", "a call to the NVIDIA driver does not come back",
                    "Programs that use a GPU will hang as well: dmesg | grep -i nvrm shows more; restart the machine");
  if (snapshot.driver_hangs && snapshot.gpus.empty()) return;
  if (snapshot.source.empty() && snapshot.gpus.empty()) return check_absence(snapshot, root, findings);
  if (snapshot.driver) findings.good("driver", *snapshot.driver + ", reported by " + snapshot.source);
  if (snapshot.source == "nvidia-smi")
    findings.note("driver", "NVML does not answer; nvidia-smi does, every 5 s and with fewer values",
                  "Let the loader find libnvidia-ml.so.1, or name it in TUTTI_NVML");
  for (const auto& gpu : snapshot.gpus) check_gpu(gpu, findings);
  for (const auto& line : snapshot.notes) findings.note("driver", line);
}

/// Links that cross NUMA nodes: what their GPUs copy to each other goes the long way.
void check_links(const Topology& topology, Findings& findings) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> pairs;
  for (std::size_t gpu = 0; gpu < topology.paths.size(); ++gpu)
    for (std::size_t other = gpu + 1; other < topology.paths[gpu].size(); ++other)
      if (const auto& path = topology.paths[gpu][other]; path && path->kind == GpuPath::Kind::system)
        pairs.push_back("GPU " + std::to_string(topology.gpus[gpu].index) + " and GPU " +
                        std::to_string(topology.gpus[other].index));
  if (pairs.empty()) return;
  const std::size_t more = pairs.size() - std::min(pairs.size(), kMostNamed);
  pairs.resize(pairs.size() - more);
  findings.note(
      "topology",
      joined(pairs, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
          ": linked across NUMA nodes (SYS), which is slower: copies go through the processor",
      "For a training with " + field("data_gpu") + " and " + field("model_gpu") + " name two GPUs of one node");
}

void check_topology(const Result<Topology>& topology, Findings& findings) {
  if (!topology || topology->gpus.empty()) return;
  for (const auto& gpu : topology->gpus)
    if (topology->nodes.size() > 1 && !gpu.numa_node)
      findings.note("topology", "GPU " + std::to_string(gpu.index) + ": its NUMA node is not known");
  if (topology->nodes.size() > 1) findings.good("topology", std::to_string(topology->nodes.size()) + " NUMA nodes");
  check_links(*topology, findings);
  if (topology->gpus.size() > 1) findings.good("topology", std::to_string(topology->gpus.size()) + " GPUs:");
}

}  // namespace tutti
