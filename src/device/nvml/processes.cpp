#include "device/nvml/processes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

namespace tutti {
namespace {

constexpr unsigned kMostProcesses = 128;  // room at first; the driver says when it is too little
constexpr std::byte kUntouched{0xA5};

void enter(std::vector<GpuProcess>& processes, unsigned pid, unsigned long long memory) {
  const auto found = std::find_if(processes.begin(), processes.end(),
                                  [&](const GpuProcess& each) { return each.pid == static_cast<int>(pid); });
  // A process that both computes and draws is listed twice, with all its memory each time.
  GpuProcess& process = found == processes.end() ? processes.emplace_back() : *found;
  process.pid = static_cast<int>(pid);
  if (!nvml::is_blank(memory)) process.memory = Bytes{static_cast<std::int64_t>(memory)};
}

/// The first drivers of the 535 family wrote longer entries than they declared: they have then touched bytes behind
/// the last one.
std::size_t stride_of(const std::vector<std::byte>& buffer, unsigned count, std::size_t declared) {
  if (declared != sizeof(nvml::ProcessV2)) return declared;
  const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(count * sizeof(nvml::Process535));
  const auto behind = buffer.begin() + static_cast<std::ptrdiff_t>(count * declared);
  return std::all_of(behind, end, [](std::byte b) { return b == kUntouched; }) ? declared : sizeof(nvml::Process535);
}

template <class Entry>
bool list(NvmlAsker& ask, NvmlLibrary::Ask<unsigned*, Entry*> function, std::vector<GpuProcess>& processes) {
  if (!function) return false;
  for (unsigned room = kMostProcesses; room <= 64 * kMostProcesses; room *= 2) {
    std::vector<std::byte> buffer(room * sizeof(nvml::Process535), kUntouched);
    unsigned count = room;
    if (!ask.call(function, &count, reinterpret_cast<Entry*>(buffer.data()))) {
      if (ask.last() == nvml::kInsufficientSize) continue;
      return false;
    }
    count = std::min(count, room);
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

bool list_newest(NvmlAsker& ask, std::vector<GpuProcess>& into) {
  const NvmlLibrary& library = ask.library();
  const bool computing = list(ask, library.processes_v3, into) || list(ask, library.processes_v2, into) ||
                         list(ask, library.processes_v1, into);
  const bool drawing = list(ask, library.graphics_v3, into) || list(ask, library.graphics_v2, into) ||
                       list(ask, library.graphics_v1, into);
  return computing || drawing;
}

}  // namespace

std::optional<std::vector<GpuProcess>> gpu_processes(NvmlAsker& ask) {
  std::vector<GpuProcess> processes;
  if (!list_newest(ask, processes)) return std::nullopt;
  return processes;
}

bool add_process_utilisation(NvmlAsker& ask, unsigned long long& last_seen, std::vector<GpuProcess>& processes) {
  std::vector<nvml::ProcessSample> samples(4 * kMostProcesses);
  auto count = static_cast<unsigned>(samples.size());
  const bool got = ask.call(ask.library().process_utilisation, samples.data(), &count, last_seen);
  if (!got && ask.last() == nvml::kInsufficientSize && count < 64 * kMostProcesses) {
    samples.resize(count);
    if (!ask.call(ask.library().process_utilisation, samples.data(), &count, last_seen)) return false;
  } else if (!got) {
    // Without a sample since `last_seen` nothing ran.
    if (!ask.library().process_utilisation || ask.last() != nvml::kNotFound) return false;
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
