#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tutti {

/// While it lives, this process gets no more than so much memory beside what it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  /// Whether what asks for more gets to know it.
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
