#include "link/training_processes.h"

namespace tutti {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A GPU is the only one that its process sees.
Variables variables_of(const ResolvedDevice& device) {
  if (device.kind != ResolvedDevice::Kind::cuda) return {};
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", device.uuid}};
}

}  // namespace

Result<std::vector<ChosenDevice>> training_devices(const std::string& list) {
  const auto named = parse_device_list(list);
  if (!named) return fail_in("devices", named.error());
  auto devices = choose_devices(*named, find_devices());
  if (!devices) return fail_in("devices", devices.error());
  for (const auto& device : *devices)
    if (device.device.kind == ResolvedDevice::Kind::emulated)
      return fail(Fault::usage, "devices: " + device.label + ": an emulated card cannot train", "Name cpu:N or cuda:N");
  return devices;
}

std::vector<EngineRun> training_processes(const std::vector<std::string>& arguments,
                                          const std::vector<ChosenDevice>& devices, int port) {
  std::vector<EngineRun> runs;
  for (const auto& chosen : devices) {
    const bool gpu = chosen.device.kind == ResolvedDevice::Kind::cuda;
    EngineRun run{.arguments = arguments,
                  .environment = variables_of(chosen.device),
                  .core = chosen.device.core,
                  .name = "tutti-engine on " + chosen.label};
    run.arguments.insert(run.arguments.end(), {"--device", gpu ? "cuda:0" : "cpu"});
    if (devices.size() > 1)
      run.environment.insert(run.environment.end(), {{"RANK", std::to_string(runs.size())},
                                                     {"WORLD_SIZE", std::to_string(devices.size())},
                                                     {"MASTER_ADDR", "127.0.0.1"},
                                                     {"MASTER_PORT", std::to_string(port)}});
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace tutti
