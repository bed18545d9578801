#include "profile/core_watch.h"

#include <algorithm>
#include <chrono>

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kEvery{500};

}  // namespace

CoreWatch::CoreWatch(int process) : process_(process) {
  look();
  before_ = seen_.with([](const Seen& seen) { return seen; });
  thread_ = std::make_unique<PeriodicThread>(kEvery, [this] { look(); });
}

void CoreWatch::look() {
  const auto processes = read_process_tree({process_});
  seen_.with([&](auto& seen) {
    for (const ProcessCounters& process : processes)
      for (const ThreadCounters& thread : process.threads)
        seen[{process.process, thread.thread}] = {thread.ran, thread.waited};
  });
}

SchedulerTimes CoreWatch::stop() {
  thread_.reset();
  look();
  return seen_.with([this](const Seen& seen) {
    SchedulerTimes all;
    for (const auto& [thread, times] : seen) {
      const auto before = before_.find(thread);
      const SchedulerTimes then = before == before_.end() ? SchedulerTimes() : before->second;
      all.ran += std::max(Seconds(0), times.ran - then.ran);
      all.waited += std::max(Seconds(0), times.waited - then.waited);
    }
    return all;
  });
}

}  // namespace tutti
