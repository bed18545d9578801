#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tutti {

/// While it exists, this process can allocate no more than the given amount of further memory.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  /// Whether an allocation beyond the limit fails with an error instead of ending the process.
  static constexpr bool can_be_survived() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() {
    ::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  rlimit before_{};
};

}  // namespace tutti
