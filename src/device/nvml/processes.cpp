#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>

#include "device/nvml/readings.h"

namespace tutti {
namespace {

constexpr unsigned kMostProcesses = 128;  // capacity at first; the driver reports when it is too little
constexpr std::byte kUntouched{0xA5};
constexpr unsigned long long kFirstLook = 1'000'000;  // microseconds back

void enter(std::vector<GpuProcess>& processes, unsigned pid, unsigned long long memory) {
  const auto found = std::find_if(processes.begin(), processes.end(),
                                  [&](const GpuProcess& each) { return each.pid == static_cast<int>(pid); });
  // A process that both computes and draws is listed twice, with all its memory each time.
  GpuProcess& process = found == processes.end() ? processes.emplace_back() : *found;
  process.pid = static_cast<int>(pid);
  if (!nvml::is_blank(memory)) process.memory = Bytes{static_cast<std::int64_t>(memory)};
}

nvml::ProcessV2 entry_at(const std::vector<std::byte>& buffer, std::size_t offset) {
  nvml::ProcessV2 entry{};
  std::memcpy(&entry, buffer.data() + offset, sizeof entry);
  return entry;
}

/// The first drivers of the 535 family wrote longer entries than they declared. They have then touched bytes behind the
/// last one, and, read with the declared length, some process has the number 0.
std::size_t stride_of(const std::vector<std::byte>& buffer, unsigned count, std::size_t declared) {
  if (declared != sizeof(nvml::ProcessV2)) return declared;
  const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(count * sizeof(nvml::Process535));
  const auto behind = buffer.begin() + static_cast<std::ptrdiff_t>(count * declared);
  bool has_unused = false;
  for (unsigned i = 0; i < count; ++i) has_unused = has_unused || entry_at(buffer, i * declared).pid == 0;
  const bool is_longer = has_unused && std::any_of(behind, end, [](std::byte b) { return b != kUntouched; });
  return is_longer ? sizeof(nvml::Process535) : declared;
}

/// NVML's clock: microseconds since 1970.
unsigned long long microseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

template <class Entry>
bool list(NvmlQuery& query, NvmlLibrary::Query<unsigned*, Entry*> function, std::vector<GpuProcess>& processes) {
  if (!function) return false;
  for (unsigned capacity = kMostProcesses; capacity <= 64 * kMostProcesses; capacity *= 2) {
    std::vector<std::byte> buffer(capacity * sizeof(nvml::Process535), kUntouched);
    unsigned count = capacity;
    if (!query.call(function, &count, reinterpret_cast<Entry*>(buffer.data()))) {
      if (query.last() == nvml::kInsufficientSize) continue;
      return false;
    }
    count = std::min(count, capacity);
    const std::size_t stride = stride_of(buffer, count, sizeof(Entry));
    for (unsigned i = 0; i < count; ++i) {
      Entry entry;
      std::memcpy(&entry, buffer.data() + i * stride, sizeof entry);
      enter(processes, entry.pid, entry.memory);
    }
    return true;
  }
  return false;
}

bool list_newest(NvmlQuery& query, std::vector<GpuProcess>& into) {
  const NvmlLibrary& library = query.library();
  const bool computing = list(query, library.processes_v3, into) || list(query, library.processes_v2, into) ||
                         list(query, library.processes_v1, into);
  const bool drawing = list(query, library.graphics_v3, into) || list(query, library.graphics_v2, into) ||
                       list(query, library.graphics_v1, into);
  return computing || drawing;
}

}  // namespace

std::optional<std::vector<GpuProcess>> gpu_processes(NvmlQuery& query) {
  std::vector<GpuProcess> processes;
  if (!list_newest(query, processes)) return std::nullopt;
  return processes;
}

bool add_process_utilisation(NvmlQuery& query, unsigned long long& last_seen, std::vector<GpuProcess>& processes) {
  // The driver keeps old samples, which would be reported again at first.
  if (last_seen == 0) last_seen = microseconds_now() - kFirstLook;
  std::vector<nvml::ProcessSample> samples(4 * kMostProcesses);
  auto count = static_cast<unsigned>(samples.size());
  const bool got = query.call(query.library().process_utilisation, samples.data(), &count, last_seen);
  if (!got && query.last() == nvml::kInsufficientSize && count < 64 * kMostProcesses) {
    samples.resize(count);
    if (!query.call(query.library().process_utilisation, samples.data(), &count, last_seen)) return false;
  } else if (!got) {
    // Without a sample since `last_seen` nothing ran.
    if (!query.library().process_utilisation || query.last() != nvml::kNotFound) return false;
    count = 0;
  }
  samples.resize(std::min<std::size_t>(count, samples.size()));

  std::map<unsigned, std::pair<double, int>> sums;
  for (const auto& sample : samples) {
    if (sample.time <= last_seen || sample.sm > 100) continue;  // unused entries are zero
    sums[sample.pid].first += sample.sm / 100.0;
    ++sums[sample.pid].second;
  }
  for (const auto& sample : samples) last_seen = std::max(last_seen, sample.time);
  for (auto& process : processes) {
    const auto found = sums.find(static_cast<unsigned>(process.pid));
    process.utilisation = found == sums.end() ? 0.0 : found->second.first / found->second.second;
  }
  return true;
}

}  // namespace tutti
