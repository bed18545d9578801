#include "device/child_memory.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/files.h"

namespace tutti {
namespace {

constexpr std::string_view kPeak = "VmHWM:";

Bytes peak_of(const std::string& process) {
  const auto status = read_file("/proc/" + process + "/status");
  const auto at = status ? status->find(kPeak) : std::string::npos;
  if (at == std::string::npos) return {};
  return Bytes{std::strtoll(status->c_str() + at + kPeak.size(), nullptr, 10) * 1024};  // it says kB and means KiB
}

}  // namespace

Bytes largest_child() {
  Bytes largest{};
  std::error_code gone;  // threads come and go
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::istringstream children(read_file(thread.path() / "children").value_or(""));
    for (std::string child; children >> child;) largest = std::max(largest, peak_of(child));
  }
  return largest;
}

}  // namespace tutti
