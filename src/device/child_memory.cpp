#include "device/child_memory.h"

#include <algorithm>
#include <sstream>

#include "device/proc_text.h"

namespace tutti {

namespace fs = std::filesystem;

std::optional<Bytes> largest_child(const fs::path& root) {
  std::optional<Bytes> largest;
  std::error_code gone;  // threads come and go
  for (const auto& thread : fs::directory_iterator(root / "proc/self/task", gone)) {
    std::istringstream children(read_system_file(thread.path() / "children").value_or(""));
    for (int child = 0; children >> child;) {
      const auto status = read_system_file(root / "proc" / std::to_string(child) / "status");
      const auto peak = status ? kilobytes_of_key(*status, "VmHWM") : std::nullopt;
      if (peak) largest = std::max(largest.value_or(Bytes{}), *peak);
    }
  }
  return largest;
}

}  // namespace tutti
