#include "profile/core_watch.h"

#include <chrono>

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kEvery{500};

}  // namespace

CoreWatch::CoreWatch(int process)
    : process_(process), thread_(std::make_unique<PeriodicThread>(kEvery, [this] { look(); })) {}

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
  return seen_.with([](const auto& seen) {
    SchedulerTimes all;
    for (const auto& [thread, times] : seen) {
      all.ran += times.ran;
      all.waited += times.waited;
    }
    return all;
  });
}

}  // namespace tutti
