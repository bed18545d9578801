#include "device/stall_counters.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <system_error>

#include "device/cgroup.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// The number behind `key` and a space in lines of "key number"; none: there is no such line.
std::optional<std::int64_t> number_of(const std::string& text, const std::string& key) {
  const auto at = ("\n" + text).find("\n" + key + " ");
  return at == std::string::npos ? std::nullopt : leading_number(std::string_view(text).substr(at + key.size()));
}

/// "some ... total=MICROSECONDS" of a file in /proc/pressure.
std::optional<Seconds> pressure(const fs::path& file) {
  const auto text = read_system_file(file);
  constexpr std::string_view kTotal = "total=";
  const auto at = text && text->starts_with("some") ? text->find(kTotal) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const auto microseconds = leading_number(std::string_view(*text).substr(at + kTotal.size()));
  return microseconds ? std::optional(Seconds(1e-6 * static_cast<double>(*microseconds))) : std::nullopt;
}

std::optional<Seconds> machine_time(const fs::path& root) {
  const auto text = read_system_file(root / "proc/stat");
  if (!text || !text->starts_with("cpu ")) return std::nullopt;
  std::istringstream line(*text);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  line >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen;
  return Seconds((user + nice + system + interrupts + soft + stolen) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

std::optional<Seconds> throttled(const fs::path& root) {
  std::optional<Seconds> most;
  for (const fs::path& folder : cpu_group_folders(root)) {
    const auto text = read_system_file(folder / "cpu.stat");
    if (!text) continue;
    std::optional<Seconds> found;
    if (const auto micro = number_of(*text, "throttled_usec")) found = Seconds(1e-6 * static_cast<double>(*micro));
    if (const auto nano = number_of(*text, "throttled_time")) found = Seconds(1e-9 * static_cast<double>(*nano));
    if (found) most = std::max(most.value_or(Seconds(0)), *found);
  }
  return most;
}

std::optional<Seconds> hot_time(const fs::path& root) {
  std::optional<Seconds> most;
  std::error_code over;
  for (fs::directory_iterator cpu(root / "sys/devices/system/cpu", over), end; !over && cpu != end;
       cpu.increment(over)) {
    const auto text = read_system_file(cpu->path() / "thermal_throttle/core_throttle_total_time_ms");
    const auto found = text ? leading_number(*text) : std::nullopt;
    if (found) most = std::max(most.value_or(Seconds(0)), Seconds(1e-3 * static_cast<double>(*found)));
  }
  return most;
}

std::optional<std::int64_t> swapped_pages(const fs::path& root) {
  const auto text = read_system_file(root / "proc/vmstat");
  if (!text) return std::nullopt;
  const auto in = number_of(*text, "pswpin"), out = number_of(*text, "pswpout");
  return in && out ? std::optional(*in + *out) : std::nullopt;
}

}  // namespace

StallCounters read_stall_counters(const fs::path& root) {
  return {.busy = machine_time(root),
          .throttled = throttled(root),
          .cpu = pressure(root / "proc/pressure/cpu"),
          .memory = pressure(root / "proc/pressure/memory"),
          .swapped_pages = swapped_pages(root),
          .hot = hot_time(root)};
}

}  // namespace tutti
