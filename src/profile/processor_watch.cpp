#include "profile/processor_watch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace tutti {
namespace {

constexpr double kFull = 0.75;  // share of the cores' time from which threads may have waited for a core

Seconds used_by(int who) {
  rusage used{};
  ::getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return Seconds(seconds(used.ru_utime) + seconds(used.ru_stime));
}

}  // namespace

Seconds own_processor_time() {
  return used_by(RUSAGE_SELF);
}

Seconds children_processor_time() {
  return used_by(RUSAGE_CHILDREN);
}

double share_on_core(Seconds own, Seconds working, Seconds all, Seconds possible) {
  if (working.count() <= 0 || std::max(own, all) >= kFull * possible) return 1;
  return std::clamp(own / working, 0.0, 1.0);
}

ProcessorWatch::ProcessorWatch()
    : start_(Clock::real().now()),
      own_(own_processor_time() + children_processor_time()),
      machine_(read_stall_counters("/")) {}

Seconds ProcessorWatch::own_passed() const {
  return own_processor_time() + children_processor_time() - own_;
}

double ProcessorWatch::on_core(Seconds working, int cores) const {
  const Seconds passed = Clock::real().now() - start_;
  const Seconds own = own_passed();
  const auto now = read_stall_counters("/").busy;
  if (!now || !machine_.busy) return 1;
  const double all_cores = std::max<double>(1, static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(share_on_core(own, working, *now - *machine_.busy, all_cores * passed),
                  share_on_core(own, working, own, cores * passed));
}

double ProcessorWatch::least_on_core(Seconds working) const {
  return working.count() > 0 ? std::clamp(own_passed() / working, 0.0, 1.0) : 1;
}

void ProcessorWatch::note(RunRecording& recording) const {
  Seconds working{};
  for (const RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu)
      for (const Seconds item : stage.items) working += item;
  const double share = on_core(working, recording.cores);
  for (RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu) stage.on_core = share;
}

}  // namespace tutti
