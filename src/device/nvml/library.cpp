#include "device/nvml/library.h"

#include <cstdlib>
#include <type_traits>

#include "base/environment.h"
#include "base/library_call.h"

namespace tutti {

NvmlLibrary::~NvmlLibrary() {
  if (is_running && shutdown) shutdown();
}

std::string NvmlLibrary::reason(nvml::Code code) const {
  const char* text = error_string ? error_string(code) : nullptr;
  return (text ? std::string(text) + " " : "code ") + "(" + std::to_string(code) + ")";
}

template <class Function>
void NvmlLibrary::find(Function& function, const char* symbol, const char* older) {
  if (!look_up(handle.get(), symbol, function) && older) look_up(handle.get(), older, function);
}

void NvmlLibrary::find_system() {
  find(init, "nvmlInit_v2");
  find(shutdown, "nvmlShutdown");
  find(error_string, "nvmlErrorString");
  find(driver_version, "nvmlSystemGetDriverVersion");
  find(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion");
  find(device_count, "nvmlDeviceGetCount_v2");
  find(device_by_index, "nvmlDeviceGetHandleByIndex_v2");
}

void NvmlLibrary::find_identity() {
  find(uuid, "nvmlDeviceGetUUID");
  find(name, "nvmlDeviceGetName");
  find(pci_info, "nvmlDeviceGetPciInfo_v3");
  find(capability, "nvmlDeviceGetCudaComputeCapability");
  find(mig_mode, "nvmlDeviceGetMigMode");
  find(mig_count, "nvmlDeviceGetMaxMigDeviceCount");
  find(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
  find(gpu_instance, "nvmlDeviceGetGpuInstanceId");
  find(compute_instance, "nvmlDeviceGetComputeInstanceId");
}

void NvmlLibrary::find_values() {
  find(memory, "nvmlDeviceGetMemoryInfo");
  find(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  find(utilisation, "nvmlDeviceGetUtilizationRates");
  find(power, "nvmlDeviceGetPowerUsage");
  find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(temperature, "nvmlDeviceGetTemperature");
  find(temperature_limit, "nvmlDeviceGetTemperatureThreshold");
  find(clock, "nvmlDeviceGetClockInfo");
  find(clock_max, "nvmlDeviceGetMaxClockInfo");
  find(clocks_event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
  find(fields, "nvmlDeviceGetFieldValues");
  find(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  find(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  find(pcie_throughput, "nvmlDeviceGetPcieThroughput");
}

void NvmlLibrary::find_processes_and_events() {
  find(processes_v1, "nvmlDeviceGetComputeRunningProcesses");
  find(processes_v2, "nvmlDeviceGetComputeRunningProcesses_v2");
  find(processes_v3, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(graphics_v1, "nvmlDeviceGetGraphicsRunningProcesses");
  find(graphics_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2");
  find(graphics_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  find(process_utilisation, "nvmlDeviceGetProcessUtilization");
  find(make_events, "nvmlEventSetCreate");
  find(free_events, "nvmlEventSetFree");
  find(watch_events, "nvmlDeviceRegisterEvents");
  find(next_event, "nvmlEventSetWait_v2", "nvmlEventSetWait");
}

void NvmlLibrary::find_locations() {
  find(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
  find(link_state, "nvmlDeviceGetNvLinkState");
  find(link_remote_kind, "nvmlDeviceGetNvLinkRemoteDeviceType");
  find(link_remote_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  find(cpu_affinity, "nvmlDeviceGetCpuAffinity");
  find(memory_affinity, "nvmlDeviceGetMemoryAffinity");
}

Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::load() {
  return load(variable(own_variables::kNvml).value_or("libnvidia-ml.so.1"));
}

Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::load(const std::string& file) {
  auto library = std::make_shared<NvmlLibrary>();
  library->handle.reset(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library->handle) {
    const char* why = ::dlerror();
    return fail(Fault::missing,
                file + ": NVIDIA's management library cannot be loaded" + (why ? std::string(": ") + why : ""),
                "Without an NVIDIA driver only the CPU is used");
  }
  library->find_system();
  if (!library->init)
    return fail(Fault::unsupported, file + ": expected NVIDIA's management library, found no nvmlInit_v2 in it");
  library->find_identity();
  library->find_values();
  library->find_processes_and_events();
  library->find_locations();
  if (const auto code = library->init(); code != nvml::kSuccess)
    return fail(Fault::device, "the NVIDIA driver does not answer: " + library->reason(code),
                "nvidia-smi should say more");
  library->is_running = true;
  return std::shared_ptr<const NvmlLibrary>(std::move(library));
}

}  // namespace tutti
