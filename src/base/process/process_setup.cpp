#include "base/process/process_setup.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/numbers.h"

namespace tutti {

void outlive_file_size_limit() {
  std::signal(SIGXFSZ, SIG_IGN);
}

bool ignores_ends_of_children() {
  struct sigaction now {};
  return ::sigaction(SIGCHLD, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void keep_ends_of_children() {
  if (ignores_ends_of_children()) std::signal(SIGCHLD, SIG_DFL);
}

Error file_too_large(std::string what) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {Fault::refused, std::move(what), "Name a path on a file system that takes larger files"};
  return {Fault::refused,
          what + "; a file may have at most " + bytes_text({static_cast<std::int64_t>(limit.rlim_cur)}) + " here",
          "Raise the limit of a file's size: ulimit -f, LimitFSIZE= of a service"};
}

void occupy_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free descriptor is this one. Opened the wrong way round, so that its use is still an error.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

Result<void> flush_standard_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return tl::unexpected(system_error("standard output", "could not be written", errno != 0 ? errno : EIO));
}

}  // namespace tutti
