#include "train/report/launch_time.h"

#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include "base/files.h"

namespace tutti {
namespace {

constexpr const char* kBackwardThreads = "pt_autograd";

Seconds own_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return Seconds(static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec));
}

/// The first number of schedstat: nanoseconds on a processor.
Seconds time_of(const std::filesystem::path& thread) {
  const auto text = read_file(thread / "schedstat");
  double nanoseconds = 0;
  if (text) std::istringstream(*text) >> nanoseconds;
  return Seconds(1e-9 * nanoseconds);
}

}  // namespace

Seconds launch_time() {
  Seconds sum = own_time();
  std::error_code over;
  for (std::filesystem::directory_iterator thread("/proc/self/task", over), end; !over && thread != end;
       thread.increment(over)) {
    const auto name = read_file(thread->path() / "comm");
    if (name && name->starts_with(kBackwardThreads)) sum += time_of(thread->path());
  }
  return sum;
}

}  // namespace tutti
