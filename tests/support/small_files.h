#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace tutti {

/// While it exists, files of this process cannot grow beyond some bytes (`ulimit -f`).
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  sighandler_t before_ = SIG_DFL;
  rlimit limit_{};
};

}  // namespace tutti
