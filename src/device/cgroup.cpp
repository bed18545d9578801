#include "device/cgroup.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// The folder of this process in one hierarchy: version 2 is listed as "0::/path", a version 1 controller as
/// "4:cpu,cpuacct:/path".
std::optional<std::string> group_path(std::string_view listing, std::string_view controller) {
  while (!listing.empty()) {
    const auto end = std::min(listing.find('\n'), listing.size());
    const auto line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string names = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    if (names == "," + std::string(controller) + "," ||
        names.find("," + std::string(controller) + ",") != std::string::npos)
      return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// The folder and all above it up to the mount: a limit binds everything below. Inside a container the path may name
/// folders that only the host sees; the mount itself is then ours.
std::vector<fs::path> levels(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> all;
  for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path()) all.push_back(mount / at);
  all.push_back(mount);
  return all;
}

template <class T>
void tighten(std::optional<T>& limit, T found) {
  limit = limit ? std::min(*limit, found) : found;
}

std::optional<std::int64_t> number_in(const fs::path& path) {
  const auto text = read_system_file(path);
  return text ? leading_number(*text) : std::nullopt;
}

void apply_cpu(CgroupLimits& limits, std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (quota && period && *quota > 0 && *period > 0)
    tighten(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

struct MemoryFiles {
  const char* limit;
  const char* used;
  const char* cached;  // the key in memory.stat
};

void apply_memory(CgroupLimits& limits, const fs::path& folder, const MemoryFiles& files) {
  // Version 1 writes "no limit" as a number near 2^63; version 2 as the word max.
  const auto limit = number_in(folder / files.limit);
  if (!limit || *limit >= (std::int64_t{1} << 60)) return;
  tighten(limits.memory, Bytes{*limit});
  const auto used = number_in(folder / files.used);
  if (!used) return;
  std::int64_t cached = 0;
  if (const auto stat = read_system_file(folder / "memory.stat")) {
    const auto at = ("\n" + *stat).find("\n" + std::string(files.cached) + " ");
    if (at != std::string::npos)
      cached = leading_number(std::string_view(*stat).substr(at + std::string_view(files.cached).size())).value_or(0);
  }
  tighten(limits.memory_available, Bytes{std::clamp<std::int64_t>(*limit - *used + cached, 0, *limit)});
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  const std::string listing = read_system_file(root / "proc/self/cgroup").value_or("");
  if (const auto group = group_path(listing, "")) {
    for (const auto& folder : levels(mount, *group)) {
      if (const auto max = read_system_file(folder / "cpu.max"))
        apply_cpu(limits, leading_number(*max),
                  leading_number(std::string_view(*max).substr(std::min(max->find(' '), max->size()))));
      apply_memory(limits, folder, {"memory.max", "memory.current", "inactive_file"});
    }
  }
  if (const auto group = group_path(listing, "cpu")) {
    for (const auto& folder : levels(mount / "cpu", *group))
      apply_cpu(limits, number_in(folder / "cpu.cfs_quota_us"), number_in(folder / "cpu.cfs_period_us"));
  }
  if (const auto group = group_path(listing, "memory")) {
    for (const auto& folder : levels(mount / "memory", *group))
      apply_memory(limits, folder, {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"});
  }
  return limits;
}

std::vector<fs::path> cpu_group_folders(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  const std::string listing = read_system_file(root / "proc/self/cgroup").value_or("");
  std::vector<fs::path> folders;
  if (const auto group = group_path(listing, "")) folders = levels(mount, *group);
  if (const auto group = group_path(listing, "cpu"))
    for (const auto& folder : levels(mount / "cpu", *group)) folders.push_back(folder);
  return folders;
}

}  // namespace tutti
