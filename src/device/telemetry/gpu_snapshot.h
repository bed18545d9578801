#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "device/gpu.h"

namespace tutti {

enum class GpuState {
  ok,    ///< answers
  lost,  ///< the driver no longer has it, or reports it lost; nothing may be sent there
  hung,  ///< the driver does not answer about it; the values are the last ones, and old
};
std::string_view name_of(GpuState state);

/// Why a GPU's clocks are lower than they could be (NVML's clocks event reasons; being idle is none).
struct ThrottleReason {
  std::string_view key;    ///< "sw_power_cap", for machines
  std::string_view words;  ///< "power limit reached", for people

  /// Heat or power, not clocks that someone has set or other GPUs that are waited for.
  bool is_heat_or_power() const;
};
/// The reasons in a mask of nvmlDeviceGetCurrentClocksEventReasons, in the order of their bits.
std::vector<ThrottleReason> throttle_reasons(std::uint64_t mask);

/// How often one Xid (an NVIDIA driver's error number) was reported since we watch, and when last.
struct XidCount {
  std::uint64_t count = 0;
  std::chrono::system_clock::time_point last{};
};

/// A process with memory or work on a GPU.
struct GpuProcess {
  int pid = 0;
  bool own = false;                     ///< belongs to our own process tree
  std::string name{};                   ///< from /proc; empty where it cannot be read
  std::optional<Bytes> memory;          ///< on this GPU
  std::optional<double> utilisation{};  ///< 0 to 1, of its multiprocessors, over the last sampling period
};

struct GpuTemperatures {
  std::optional<double> gpu{}, memory{};                     ///< degrees Celsius
  std::optional<double> slowdown_limit{}, shutdown_limit{};  ///< limits of the GPU itself
};

struct GpuClocks {
  std::optional<double> graphics{}, sm{}, memory{};  ///< hertz
  std::optional<double> graphics_max{}, memory_max{};
};

/// Memory of a GPU by whom it is held. total = own + foreign + reserved + free, where all are known.
struct GpuMemory {
  std::optional<Bytes> total{};
  std::optional<Bytes> used{};      ///< by processes; `reserved` is not in it where that is known
  std::optional<Bytes> reserved{};  ///< by driver and firmware
  std::optional<Bytes> free{};
  std::optional<Bytes> own{};      ///< by our process tree; absent where the driver shows no processes
  std::optional<Bytes> foreign{};  ///< by everyone else: used less own
};

/// How busy a GPU is, 0 to 1. One resident kernel makes a GPU fully "busy": this shows idleness and foreign use, not
/// capacity.
struct GpuUtilisation {
  std::optional<double> gpu{};     ///< absent where it cannot be true (`doubt`)
  std::optional<double> memory{};  ///< share of the time in which memory was read or written
  std::optional<double> own{};     ///< by our process tree
  std::optional<double> foreign{};
  bool by_process = false;             ///< the processes' own utilisation is known
  std::optional<std::string> doubt{};  ///< "reports 100 % with no process on it": a latched counter
};

struct GpuErrors {
  std::optional<std::uint64_t> ecc_corrected{}, ecc_uncorrected{};  ///< since the driver was loaded
  std::optional<std::map<int, XidCount>> xids{};  ///< absent where the driver cannot report them; empty: none so far
  std::optional<std::string> recovery_action{};   ///< "none", "reset the GPU", "reboot the machine", …
};

struct GpuPcie {
  std::optional<int> generation{}, width{};
  std::optional<double> sent{}, received{};  ///< bytes per second as the GPU sees it; measured every 10 s
};

/// One GPU at one moment. What the driver does not say is absent, never 0. Known by `uuid`; index, bus and CUDA order
/// are shown beside it and may change while the machine runs.
struct GpuSnapshot {
  std::string uuid;                         ///< "GPU-…"; its PCI bus id where the driver is too old to say
  std::optional<int> index{};               ///< as nvidia-smi counts; absent while the GPU is lost
  std::optional<int> cuda_order{};          ///< N of `cuda:N`; absent where CUDA_VISIBLE_DEVICES hides it
  std::optional<std::string> pci_bus_id{};  ///< "00000000:01:00.0"
  std::optional<std::string> name{};
  GpuState state = GpuState::ok;
  std::string reason{};                  ///< in words, of any state but ok
  Clock::Instant since{};                ///< when the state began
  std::optional<Clock::Instant> when{};  ///< when the values were read; absent: never
  GpuMemory memory{};
  GpuUtilisation utilisation{};
  std::optional<double> power{}, power_limit{};  ///< watts
  std::optional<double> energy{};                ///< joules since the driver was loaded
  GpuTemperatures temperatures{};
  GpuClocks clocks{};
  std::optional<std::vector<ThrottleReason>> throttled_by{};  ///< empty: not throttled
  GpuErrors errors{};
  GpuPcie pcie{};
  std::optional<bool> mig{};  ///< in MIG mode
  std::vector<MigDevice> mig_devices{};
  std::optional<std::vector<GpuProcess>> processes{};  ///< absent where the driver shows none of them to us

  /// Age of the values at `now`; absent where there never were any.
  std::optional<Seconds> age(Clock::Instant now) const;
};

}  // namespace tutti
