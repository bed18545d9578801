#include "device/nvml_library.h"

namespace tutti {

NvmlLibrary::~NvmlLibrary() {
  if (is_running && shutdown) shutdown();
}

std::string NvmlLibrary::reason(nvml::Code code) const {
  const char* text = error_string ? error_string(code) : nullptr;
  return (text ? std::string(text) + " " : "code ") + "(" + std::to_string(code) + ")";
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
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library->handle.get(), symbol));
  };
  find(library->init, "nvmlInit_v2");
  find(library->shutdown, "nvmlShutdown");
  find(library->error_string, "nvmlErrorString");
  find(library->driver_version, "nvmlSystemGetDriverVersion");
  find(library->cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  find(library->device_count, "nvmlDeviceGetCount_v2");
  find(library->device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(library->uuid, "nvmlDeviceGetUUID");
  find(library->name, "nvmlDeviceGetName");
  find(library->pci_info, "nvmlDeviceGetPciInfo_v3");
  find(library->memory, "nvmlDeviceGetMemoryInfo");
  find(library->capability, "nvmlDeviceGetCudaComputeCapability");
  if (!library->init)
    return fail(Fault::unsupported, file + ": expected NVIDIA's management library, found no nvmlInit_v2 in it");
  if (const auto code = library->init(); code != nvml::kSuccess)
    return fail(Fault::device, "the NVIDIA driver does not answer: " + library->reason(code),
                "nvidia-smi should say more");
  library->is_running = true;
  return std::shared_ptr<const NvmlLibrary>(std::move(library));
}

}  // namespace tutti
