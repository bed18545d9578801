#include "train/report/load_track.h"

#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/files.h"
#include "device/process_tree.h"

namespace tutti {
namespace {

constexpr const char* kBackwardThreads = "pt_autograd";

Seconds own_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return Seconds(static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec));
}

}  // namespace

void LoadTrack::take(const std::shared_ptr<const MachineSnapshot>& snapshot) {
  const double seconds = time_since(last_.get(), *snapshot).count();
  last_ = snapshot;
  if (seconds <= 0) return;
  if (snapshot->host.busy) cpu_load_.add(*snapshot->host.busy, seconds);
  if (const auto* own = gpu_in(*snapshot, gpu_); own && own->utilisation.gpu)
    gpu_load_.add(*own->utilisation.gpu, seconds);
}

MachineLoad LoadTrack::load() const {
  if (!last_) return {};
  MachineLoad load = memory_load(*last_, gpu_);
  if (!gpu_load_.is_empty()) load.gpu = gpu_load_.mean();
  if (!cpu_load_.is_empty()) load.cpu = cpu_load_.mean();
  return load;
}

Seconds launch_time() {
  Seconds sum = own_time();
  std::error_code over;
  for (std::filesystem::directory_iterator thread("/proc/self/task", over), end; !over && thread != end;
       thread.increment(over)) {
    const auto name = read_file(thread->path() / "comm");
    if (name && name->starts_with(kBackwardThreads))
      sum += scheduler_times(thread->path()).value_or(SchedulerTimes()).ran;
  }
  return sum;
}

}  // namespace tutti
