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
  using Query = nvml::Code (*)(nvml::Device, Arguments...);

  std::unique_ptr<void, FreeWith<::dlclose>> handle;
  bool is_running = false;  // init succeeded

  Call<> init{}, shutdown{};
  const char* (*error_string)(nvml::Code) = nullptr;
  Call<char*, unsigned> driver_version{};
  Call<int*> cuda_version{};
  Call<unsigned*> device_count{};
  Call<unsigned, nvml::Device*> device_by_index{};

  // What a GPU is.
  Query<char*, unsigned> uuid{}, name{};
  Query<nvml::PciInfo*> pci_info{};
  Query<int*, int*> capability{};
  Query<unsigned*, unsigned*> mig_mode{};
  Query<unsigned*> mig_count{}, gpu_instance{}, compute_instance{};
  Query<unsigned, nvml::Device*> mig_by_index{};

  // What it does.
  Query<nvml::Memory*> memory{};
  Query<nvml::MemoryV2*> memory_v2{};
  Query<nvml::Utilisation*> utilisation{};
  Query<unsigned*> power{}, power_limit{}, pcie_generation{}, pcie_width{};  // milliwatts
  Query<unsigned long long*> energy{}, clocks_event_reasons{};               // millijoules, a mask
  Query<int, unsigned*> temperature{}, temperature_limit{}, clock{}, clock_max{}, pcie_throughput{};
  Query<int, int, unsigned long long*> ecc_errors{};
  Query<int, nvml::FieldValue*> fields{};
  Query<unsigned*, nvml::ProcessV1*> processes_v1{}, graphics_v1{};
  Query<unsigned*, nvml::ProcessV2*> processes_v2{}, graphics_v2{}, processes_v3{}, graphics_v3{};
  Query<nvml::ProcessSample*, unsigned*, unsigned long long> process_utilisation{};
  Call<nvml::EventSet*> make_events{};
  Call<nvml::EventSet> free_events{};
  Query<unsigned long long, nvml::EventSet> watch_events{};
  Call<nvml::EventSet, nvml::Event*, unsigned> next_event{};

  // Where it is.
  Query<nvml::Device, int*> common_ancestor{};
  Query<unsigned, unsigned*> link_state{};
  Query<unsigned, int*> link_remote_kind{};
  Query<unsigned, nvml::PciInfo*> link_remote_pci{};
  Query<unsigned, unsigned long*> cpu_affinity{};
  Query<unsigned, unsigned long*, int> memory_affinity{};

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
  void find_locations();
  template <class Function>
  void find(Function& function, const char* symbol, const char* older = nullptr);
};

}  // namespace tutti
