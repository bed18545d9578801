#include "device/machine.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/cgroup.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// How many numbers a list such as "0-3,8,10-11" names.
int count_in_list(std::string_view list) {
  std::int64_t count = 0;
  for (const auto part : split(list, ',')) {
    const auto dash = part.find('-');
    const auto first = leading_number(part);
    const auto last = dash == std::string_view::npos ? first : leading_number(part.substr(dash + 1));
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return static_cast<int>(count);
}

}  // namespace

bool CpuFacts::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

CpuFacts read_cpu(const fs::path& root) {
  CpuFacts cpu;
  const std::string info = read_system_file(root / "proc/cpuinfo").value_or("");
  if (const auto model = value_of_key(info, "model name")) cpu.model = std::string(*model);
  const std::string flags = " " + std::string(value_of_key(info, "flags").value_or("")) + " ";
  for (const auto feature : kCpuFeatures)
    if (flags.find(" " + std::string(feature) + " ") != std::string::npos) cpu.features.emplace_back(feature);

  const std::string online = read_system_file(root / "sys/devices/system/cpu/online").value_or("");
  cpu.machine_cores = std::max(1, count_in_list(trimmed(online)));
  const std::string status = read_system_file(root / "proc/self/status").value_or("");
  const int allowed = count_in_list(value_of_key(status, "Cpus_allowed_list").value_or(""));
  cpu.cores = allowed > 0 ? std::min(allowed, cpu.machine_cores) : cpu.machine_cores;
  if (const auto quota = read_cgroup_limits(root).cores)
    cpu.cores = std::clamp(static_cast<int>(std::ceil(*quota)), 1, cpu.cores);
  return cpu;
}

std::optional<MemoryFacts> read_memory(const fs::path& root) {
  const std::string info = read_system_file(root / "proc/meminfo").value_or("");
  const auto total = kilobytes_of_key(info, "MemTotal"), available = kilobytes_of_key(info, "MemAvailable");
  if (!total || !available) return std::nullopt;
  const CgroupLimits limits = read_cgroup_limits(root);
  return MemoryFacts{.total = std::min(*total, limits.memory.value_or(*total)),
                     .available = std::min(*available, limits.memory_available.value_or(*available))};
}

namespace {

Result<struct statvfs> file_system_of(const fs::path& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) == 0) return facts;
  return fail_errno(path.string(), "its file system cannot be queried");
}

Bytes bytes_in(unsigned long blocks, const struct statvfs& facts) {
  return {static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(facts.f_frsize)};
}

}  // namespace

Result<DiskSpace> disk_space(const fs::path& path) {
  std::error_code why;
  DiskSpace space;
  space.existing = fs::absolute(path, why).lexically_normal();
  while (!fs::exists(space.existing, why) && space.existing != space.existing.parent_path())
    space.existing = space.existing.parent_path();
  const auto file_system = TRY(file_system_of(space.existing));
  space.free = bytes_in(file_system.f_bavail, file_system);
  space.total = bytes_in(file_system.f_blocks, file_system);
  const auto disk_of = [](const fs::path& file) {
    struct stat facts {};
    return ::stat(file.c_str(), &facts) == 0 ? std::optional(facts.st_dev) : std::nullopt;
  };
  space.mount = fs::canonical(space.existing, why);
  if (why) space.mount = space.existing;
  const auto disk = disk_of(space.mount);
  while (space.mount != space.mount.parent_path() && disk_of(space.mount.parent_path()) == disk)
    space.mount = space.mount.parent_path();
  return space;
}

std::vector<fs::path> disks_of(const std::vector<fs::path>& paths) {
  std::vector<fs::path> disks;
  for (const auto& path : paths)
    if (const auto space = disk_space(path); space && std::ranges::find(disks, space->mount) == disks.end())
      disks.push_back(space->mount);
  return disks;
}

}  // namespace tutti
