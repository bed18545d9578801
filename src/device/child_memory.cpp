#include "device/child_memory.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "device/machine.h"

namespace tutti {

Bytes largest_child() {
  Bytes largest{};
  std::error_code gone;  // threads come and go
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::istringstream children(read_file(thread.path() / "children").value_or(""));
    for (int child = 0; children >> child;) {
      const auto usage = process_usage(child);
      if (usage && usage->peak_resident) largest = std::max(largest, *usage->peak_resident);
    }
  }
  return largest;
}

}  // namespace tutti
