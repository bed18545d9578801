#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/owned.h"
#include "device/nvml/abi.h"

namespace tutti {

/// The loaded library; shut down and closed when it goes. Functions it lacks are null: every one but init is optional.
/// Calls are thread-safe, as NVML's are.
struct NvmlLibrary {
  template <class... Arguments>
  using Call = nvml::Code (*)(Arguments...);
  template <class... Arguments>
  using Ask = nvml::Code (*)(nvml::Device, Arguments...);

  std::unique_ptr<void, FreeWith<::dlclose>> handle;
  bool is_running = false;  // init succeeded

  Call<> init{}, shutdown{};
  const char* (*error_string)(nvml::Code) = nullptr;
  Call<char*, unsigned> driver_version{};
  Call<int*> cuda_version{};
  Call<unsigned*> device_count{};
  Call<unsigned, nvml::Device*> device_by_index{};

  // What a GPU is.
  Ask<char*, unsigned> uuid{}, name{};
  Ask<nvml::PciInfo*> pci_info{};
  Ask<int*, int*> capability{};
  Ask<unsigned*, unsigned*> mig_mode{};
  Ask<unsigned*> mig_count{}, gpu_instance{}, compute_instance{};
  Ask<unsigned, nvml::Device*> mig_by_index{};

  // What it does.
  Ask<nvml::Memory*> memory{};
  Ask<nvml::MemoryV2*> memory_v2{};
  Ask<nvml::Utilisation*> utilisation{};
  Ask<unsigned*> power{}, power_limit{}, pcie_generation{}, pcie_width{};  // milliwatts
  Ask<unsigned long long*> energy{}, clocks_event_reasons{};               // millijoules, a mask
  Ask<int, unsigned*> temperature{}, temperature_limit{}, clock{}, clock_max{}, pcie_throughput{};
  Ask<int, int, unsigned long long*> ecc_errors{};
  Ask<int, nvml::FieldValue*> fields{};
  Ask<unsigned*, nvml::ProcessV1*> processes_v1{}, graphics_v1{};
  Ask<unsigned*, nvml::ProcessV2*> processes_v2{}, graphics_v2{}, processes_v3{}, graphics_v3{};
  Ask<nvml::ProcessSample*, unsigned*, unsigned long long> process_utilisation{};
  Call<nvml::EventSet*> make_events{};
  Call<nvml::EventSet> free_events{};
  Ask<unsigned long long, nvml::EventSet> watch_events{};
  Call<nvml::EventSet, nvml::Event*, unsigned> next_event{};

  // Where it is.
  Ask<nvml::Device, int*> common_ancestor{};
  Ask<unsigned, unsigned*> link_state{};
  Ask<unsigned, int*> link_remote_kind{};
  Ask<unsigned, nvml::PciInfo*> link_remote_pci{};
  Ask<unsigned, unsigned long*> cpu_affinity{};
  Ask<unsigned, unsigned long*, int> memory_affinity{};

  NvmlLibrary() = default;
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  /// Loads and starts `file`. Fault::missing without it, Fault::unsupported for another library, Fault::device where
  /// the driver does not answer.
  static Result<std::shared_ptr<const NvmlLibrary>> load(const std::string& file);
  /// The library that TUTTI_NVML names, else libnvidia-ml.so.1.
  static Result<std::shared_ptr<const NvmlLibrary>> load();
  /// "Driver Not Loaded (9)"
  std::string reason(nvml::Code code) const;

 private:
  void find_system();
  void find_identity();
  void find_values();
  void find_processes_and_events();
  void find_places();
  template <class Function>
  void find(Function& function, const char* symbol, const char* older = nullptr);
};

}  // namespace tutti
