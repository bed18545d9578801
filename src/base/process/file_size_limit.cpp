#include "base/process/file_size_limit.h"

#include <sys/resource.h>

#include <csignal>

#include "base/numbers.h"

namespace tutti {

void outlive_file_size_limit() {
  std::signal(SIGXFSZ, SIG_IGN);
}

Error file_too_large(std::string what) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {Fault::refused, std::move(what), "Name a path on a file system that takes larger files"};
  return {Fault::refused,
          what + "; a file may have at most " + bytes_text({static_cast<std::int64_t>(limit.rlim_cur)}) + " here",
          "Raise the limit of a file's size: ulimit -f, LimitFSIZE= of a service"};
}

}  // namespace tutti
