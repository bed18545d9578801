#include "model/compute_device.h"

#include <ATen/Parallel.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "model/device_name.h"

namespace tutti {
namespace {

constexpr std::string_view kCores = "cpu:";

std::vector<int> own_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// "3" or "0-3".
std::optional<std::pair<int, int>> range_of(std::string_view text) {
  const auto ends = split(text, '-');
  const auto first = ends.empty() ? std::nullopt : number_in<int>(ends.front());
  const auto last = ends.size() == 2 ? number_in<int>(ends[1]) : first;
  if (!first || !last || ends.size() > 2 || *first < 0 || *last < *first || *last >= CPU_SETSIZE) return std::nullopt;
  return std::pair(*first, *last);
}

Result<ThreadCores> read_cores(std::string_view text) {
  std::set<int> cores;
  for (const auto part : split(text, ',')) {
    const auto range = range_of(part);
    if (!range) return fail(Fault::usage, "'" + std::string(part) + "' names no core");
    for (int core = range->first; core <= range->second; ++core) cores.insert(core);
  }
  if (cores.empty()) return fail(Fault::usage, "no core is named");
  const auto own = own_cores();
  const auto text_of = [](int core) { return std::to_string(core); };
  for (const int core : cores)
    if (std::ranges::find(own, core) == own.end())
      return fail(Fault::missing,
                  "this process has no core " + text_of(core) + ", but these: " + joined(own, ", ", text_of));
  return ThreadCores{.cores = {cores.begin(), cores.end()}, .threads = static_cast<int>(cores.size())};
}

}  // namespace

Result<ComputeDevice> compute_device_named(const std::string& name) {
  if (name.starts_with(kCores)) {
    auto cores = read_cores(std::string_view(name).substr(kCores.size()));
    if (cores) return ComputeDevice{.device = at::kCPU, .cores = std::move(*cores)};
    return fail(cores.error().fault, "device '" + name + "': " + cores.error().what,
                "Write cpu:0, cpu:0-3 or cpu:0-3,8 for cores, or cpu for all of them");
  }
  const auto device = device_named(name);
  if (!device && device.error().fault == Fault::usage)
    return fail(Fault::usage, "device '" + name + "': expected cpu, cpu:CORES (cpu:0, cpu:0-3) or cuda:N");
  TRY(device);
  return ComputeDevice{.device = *device};
}

void use_cores(const ThreadCores& cores) {
  if (!cores.cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores.cores) CPU_SET(static_cast<std::size_t>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
      log(Level::warning, "the system does not keep a thread on its cores; it runs on all of them");
  }
  if (cores.threads > 0) at::set_num_threads(cores.threads);
}

}  // namespace tutti
