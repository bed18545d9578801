#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace tutti {

/// Files of this process cannot grow beyond some bytes while it lives: what a full disk looks like from here.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  sighandler_t before_ = SIG_DFL;
  rlimit limit_{};
};

}  // namespace tutti
