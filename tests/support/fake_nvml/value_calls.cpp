// The calls that say what a GPU does: memory, load, sensors, processes, events. See script.h.
#include <chrono>
#include <cstring>

#include "script.h"

using fake::Card;

namespace {

struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilisation {
  unsigned gpu, memory;
};
struct ProcessV1 {
  unsigned pid;
  unsigned long long memory;
};
struct ProcessV2 {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Process535 {
  ProcessV2 head;
  unsigned long long protected_memory;
};
struct ProcessSample {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};
struct FieldValue {
  unsigned field, scope;
  long long time, latency;
  unsigned type;
  int code;
  unsigned long long value;
};
struct EventData {
  const Card* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

struct Use {
  unsigned long long total = 0, reserved = 0, used = 0;
};

std::optional<Use> use_of(const Card* card) {
  const auto total = fake::number(card, "total");
  if (!total) return std::nullopt;
  Use use{*total, fake::number(card, "reserved").value_or(0), fake::number(card, "used").value_or(0)};
  for (const auto& process : fake::processes(card)) use.used += process.memory;
  if (use.used > use.total - use.reserved) use.used = use.total - use.reserved;
  return use;
}

int answer(std::optional<unsigned long long> number, unsigned* into) {
  if (!number) return fake::kNotSupported;
  *into = static_cast<unsigned>(*number);
  return fake::kSuccess;
}

int answer(std::optional<unsigned long long> number, unsigned long long* into) {
  if (!number) return fake::kNotSupported;
  *into = *number;
  return fake::kSuccess;
}

std::optional<unsigned long long> thousandths(std::optional<double> number) {
  return number ? std::optional(static_cast<unsigned long long>(*number * 1000)) : std::nullopt;
}

unsigned long long microseconds_now() {
  return static_cast<unsigned long long>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

void put(ProcessV1& entry, const fake::Process& process) {
  entry = {process.pid, process.memory};
}

void put(ProcessV2& entry, const fake::Process& process) {
  entry = {process.pid, process.memory, ~0u, ~0u};
}

void put(Process535& entry, const fake::Process& process) {
  put(entry.head, process);
  entry.protected_memory = 0;
}

template <class Entry>
int list(const char* call, const Card* device, bool drawing, unsigned* count, Entry* entries) {
  if (const int code = fake::enter(call, device)) return code;
  if (fake::field(device, "hides_processes")) return *count = 0, fake::kSuccess;
  std::vector<fake::Process> found;
  for (const auto& process : fake::processes(device))
    if (process.draws == drawing) found.push_back(process);
  const unsigned capacity = *count;
  *count = static_cast<unsigned>(found.size());
  if (capacity < found.size()) return fake::kInsufficientSize;
  for (std::size_t i = 0; i < found.size(); ++i) put(entries[i], found[i]);
  return fake::kSuccess;
}

int list_v3(const char* call, const Card* device, bool drawing, unsigned* count, ProcessV2* entries) {
  if (fake::system_field("abi") == "535")
    return list(call, device, drawing, count, reinterpret_cast<Process535*>(entries));
  return list(call, device, drawing, count, entries);
}

const char* key_of_clock(int clock) {
  constexpr const char* kKeys[] = {"clock", "sm_clock", "mem_clock"};
  return clock >= 0 && clock < 3 ? kKeys[clock] : "";
}

}  // namespace

extern "C" {

int nvmlDeviceGetMemoryInfo(const Card* device, Memory* memory) {
  if (const int code = fake::enter("nvmlDeviceGetMemoryInfo", device)) return code;
  const auto use = use_of(device);
  if (!use) return fake::kNotSupported;
  *memory = {use->total, use->total - use->reserved - use->used, use->reserved + use->used};
  return fake::kSuccess;
}

int nvmlDeviceGetMemoryInfo_v2(const Card* device, MemoryV2* memory) {
  if (const int code = fake::enter("nvmlDeviceGetMemoryInfo_v2", device)) return code;
  if (memory->version != (sizeof(MemoryV2) | 2u << 24)) return fake::kArgumentVersionMismatch;
  const auto use = use_of(device);
  if (!use) return fake::kNotSupported;
  *memory = {memory->version, use->total, use->reserved, use->total - use->reserved - use->used, use->used};
  return fake::kSuccess;
}

int nvmlDeviceGetUtilizationRates(const Card* device, Utilisation* rates) {
  if (const int code = fake::enter("nvmlDeviceGetUtilizationRates", device)) return code;
  if (fake::number(device, "mig").value_or(0) || fake::field(device, "no_util")) return fake::kNotSupported;
  *rates = {fake::utilisation(device), static_cast<unsigned>(fake::number(device, "mem_util").value_or(0))};
  return fake::kSuccess;
}

int nvmlDeviceGetPowerUsage(const Card* device, unsigned* milliwatts) {
  const int code = fake::enter("nvmlDeviceGetPowerUsage", device);
  return code ? code : answer(thousandths(fake::power(device)), milliwatts);
}

int nvmlDeviceGetEnforcedPowerLimit(const Card* device, unsigned* milliwatts) {
  const int code = fake::enter("nvmlDeviceGetEnforcedPowerLimit", device);
  return code ? code : answer(thousandths(fake::real(device, "power_limit")), milliwatts);
}

int nvmlDeviceGetTotalEnergyConsumption(const Card* device, unsigned long long* millijoules) {
  const int code = fake::enter("nvmlDeviceGetTotalEnergyConsumption", device);
  return code ? code : answer(thousandths(fake::energy(device)), millijoules);
}

int nvmlDeviceGetTemperature(const Card* device, int, unsigned* celsius) {
  const int code = fake::enter("nvmlDeviceGetTemperature", device);
  return code ? code : answer(fake::number(device, "temp"), celsius);
}

int nvmlDeviceGetTemperatureThreshold(const Card* device, int kind, unsigned* celsius) {
  const int code = fake::enter("nvmlDeviceGetTemperatureThreshold", device);
  return code ? code : answer(fake::number(device, kind == 0 ? "shutdown" : "slowdown"), celsius);
}

int nvmlDeviceGetClockInfo(const Card* device, int kind, unsigned* megahertz) {
  const int code = fake::enter("nvmlDeviceGetClockInfo", device);
  return code ? code : answer(fake::number(device, key_of_clock(kind)), megahertz);
}

int nvmlDeviceGetMaxClockInfo(const Card* device, int kind, unsigned* megahertz) {
  const int code = fake::enter("nvmlDeviceGetMaxClockInfo", device);
  return code ? code : answer(fake::number(device, std::string(key_of_clock(kind)) + "_max"), megahertz);
}

int nvmlDeviceGetCurrentClocksEventReasons(const Card* device, unsigned long long* mask) {
  const int code = fake::enter("nvmlDeviceGetCurrentClocksEventReasons", device);
  return code ? code : answer(fake::number(device, "throttle"), mask);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const Card* device, unsigned long long* mask) {
  const int code = fake::enter("nvmlDeviceGetCurrentClocksThrottleReasons", device);
  return code ? code : answer(fake::number(device, "throttle"), mask);
}

int nvmlDeviceGetTotalEccErrors(const Card* device, int kind, int, unsigned long long* count) {
  const int code = fake::enter("nvmlDeviceGetTotalEccErrors", device);
  return code ? code : answer(fake::number(device, kind == 0 ? "ecc_corrected" : "ecc_uncorrected"), count);
}

int nvmlDeviceGetFieldValues(const Card* device, int count, FieldValue* values) {
  if (const int code = fake::enter("nvmlDeviceGetFieldValues", device)) return code;
  for (int i = 0; i < count; ++i) {
    const auto number = fake::number(device, values[i].field == 82 ? "mem_temp" : "recovery");
    values[i].type = 1;
    values[i].code = number ? fake::kSuccess : fake::kNotSupported;
    // 32 bits of the union; the bits behind them have no meaning.
    values[i].value = number.value_or(0) | 0xABCD000000000000ull;
  }
  return fake::kSuccess;
}

int nvmlDeviceGetCurrPcieLinkGeneration(const Card* device, unsigned* generation) {
  const int code = fake::enter("nvmlDeviceGetCurrPcieLinkGeneration", device);
  return code ? code : answer(fake::number(device, "pcie_gen"), generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(const Card* device, unsigned* width) {
  const int code = fake::enter("nvmlDeviceGetCurrPcieLinkWidth", device);
  return code ? code : answer(fake::number(device, "pcie_width"), width);
}

int nvmlDeviceGetPcieThroughput(const Card* device, int kind, unsigned* kilobytes) {
  const int code = fake::enter("nvmlDeviceGetPcieThroughput", device);
  return code ? code : answer(fake::number(device, kind == 0 ? "pcie_sent" : "pcie_received"), kilobytes);
}

int nvmlDeviceGetComputeRunningProcesses(const Card* device, unsigned* count, ProcessV1* entries) {
  return list("nvmlDeviceGetComputeRunningProcesses", device, false, count, entries);
}

int nvmlDeviceGetComputeRunningProcesses_v2(const Card* device, unsigned* count, ProcessV2* entries) {
  return list("nvmlDeviceGetComputeRunningProcesses_v2", device, false, count, entries);
}

int nvmlDeviceGetComputeRunningProcesses_v3(const Card* device, unsigned* count, ProcessV2* entries) {
  return list_v3("nvmlDeviceGetComputeRunningProcesses_v3", device, false, count, entries);
}

int nvmlDeviceGetGraphicsRunningProcesses(const Card* device, unsigned* count, ProcessV1* entries) {
  return list("nvmlDeviceGetGraphicsRunningProcesses", device, true, count, entries);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(const Card* device, unsigned* count, ProcessV2* entries) {
  return list("nvmlDeviceGetGraphicsRunningProcesses_v2", device, true, count, entries);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(const Card* device, unsigned* count, ProcessV2* entries) {
  return list_v3("nvmlDeviceGetGraphicsRunningProcesses_v3", device, true, count, entries);
}

int nvmlDeviceGetProcessUtilization(const Card* device, ProcessSample* samples, unsigned* count,
                                    unsigned long long last_seen) {
  if (const int code = fake::enter("nvmlDeviceGetProcessUtilization", device)) return code;
  if (fake::number(device, "mig").value_or(0) || fake::field(device, "hides_processes")) return fake::kNotSupported;
  const auto found = fake::processes(device);
  if (found.empty()) return fake::kNotFound;
  if (!samples || *count < found.size()) return *count = static_cast<unsigned>(found.size()), fake::kInsufficientSize;
  *count = static_cast<unsigned>(found.size());
  // Who forgets what it saw last gets samples that are long over.
  const bool forgets = last_seen == 0 && fake::field(device, "old_samples");
  for (std::size_t i = 0; i < found.size(); ++i)
    samples[i] = {found[i].pid, microseconds_now(), forgets ? 0 : found[i].util, 0, 0, 0};
  return fake::kSuccess;
}

int nvmlEventSetCreate(int** set) {
  static int only;
  const int code = fake::enter("nvmlEventSetCreate");
  *set = &only;
  return code;
}

int nvmlEventSetFree(int*) {
  return fake::enter("nvmlEventSetFree");
}

int nvmlDeviceRegisterEvents(const Card* device, unsigned long long, int*) {
  const int code = fake::enter("nvmlDeviceRegisterEvents", device);
  return code ? code : fake::field(device, "no_events") ? fake::kNotSupported : fake::kSuccess;
}

int nvmlEventSetWait_v2(int*, EventData* data, unsigned) {
  if (const int code = fake::enter("nvmlEventSetWait_v2")) return code;
  const auto event = fake::take_event();
  if (!event) return fake::kTimeout;
  *data = {event->card, 8, event->xid, ~0u, ~0u};
  return fake::kSuccess;
}
}
