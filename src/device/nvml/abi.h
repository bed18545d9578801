#pragma once

#include <cstdint>

/// The part of NVML's C interface that is used here. Names, numbers and layouts are the library's own and fixed by its
/// binary interface (nvml.h of CUDA 13; checked against nvidia-ml-py 13.615).
namespace tutti::nvml {

using Device = struct OpaqueDevice*;
using EventSet = struct OpaqueEventSet*;
using Code = int;

inline constexpr Code kSuccess = 0;
inline constexpr Code kNotSupported = 3;
inline constexpr Code kNoPermission = 4;
inline constexpr Code kNotFound = 6;
inline constexpr Code kInsufficientSize = 7;
inline constexpr Code kGpuIsLost = 15;
inline constexpr Code kResetRequired = 16;
inline constexpr Code kGpuNotFound = 28;

/// nvmlDeviceGetMemoryInfo; on newer drivers `used` has what v2 calls reserved in it.
struct Memory {
  unsigned long long total, free, used;
};

/// nvmlDeviceGetMemoryInfo_v2
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct Utilisation {
  unsigned gpu, memory;  // percent
};

/// nvmlDeviceGetComputeRunningProcesses without a suffix.
struct ProcessV1 {
  unsigned pid;
  unsigned long long memory;
};

/// Its _v2 and _v3.
struct ProcessV2 {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

/// What _v3 wrote in the first drivers of the 535 family, whose structure was withdrawn again.
struct Process535 {
  ProcessV2 head;
  unsigned long long protected_memory;
};
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24 && sizeof(Process535) == 32);

struct ProcessSample {
  unsigned pid;
  unsigned long long time;                // microseconds since 1970
  unsigned sm, memory, encoder, decoder;  // percent
};

struct FieldValue {
  unsigned field, scope;
  long long time, latency;
  unsigned type;
  Code code;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
inline constexpr unsigned kTypeDouble = 0, kTypeUnsigned = 1;
inline constexpr unsigned kFieldMemoryTemperature = 82;
inline constexpr unsigned kFieldRecoveryAction = 230;

struct Event {
  Device device;
  unsigned long long type, data;  // data: the Xid
  unsigned gpu_instance, compute_instance;
};
inline constexpr unsigned long long kXidEvent = 8;

// Arguments that choose what is queried.
inline constexpr int kTemperatureOfGpu = 0;
inline constexpr int kShutdownThreshold = 0, kSlowdownThreshold = 1;
inline constexpr int kGraphicsClock = 0, kSmClock = 1, kMemoryClock = 2;
inline constexpr int kCorrected = 0, kUncorrected = 1, kVolatile = 0;
inline constexpr int kPcieSent = 0, kPcieReceived = 1;
inline constexpr unsigned kLinks = 18;
inline constexpr int kScopeNode = 0;
inline constexpr int kRemoteIsGpu = 0, kRemoteIsSwitch = 2;

/// "Not known", as NVML and the tools around it write it: all ones, or one of the blanks near the largest signed number
/// (DCGM's 0x7ffffff0 and 0x7ffffffffffffff0 on).
constexpr bool is_blank(unsigned value) {
  return value == ~0U || (value >= 0x7ffffff0U && value <= 0x7fffffffU);
}
constexpr bool is_blank(unsigned long long value) {
  return value == ~0ULL || (value >= 0x7ffffffffffffff0ULL && value <= 0x7fffffffffffffffULL);
}

}  // namespace tutti::nvml
