#include "train/report/load_track.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kLongestGap = 2;  // seconds that a snapshot can stand for

}  // namespace

void LoadTrack::take(const std::shared_ptr<const MachineSnapshot>& snapshot) {
  if (last_ && last_->number == snapshot->number) return;
  const double gap = last_ ? Seconds(snapshot->when - last_->when).count() : 0;
  last_ = snapshot;
  if (gap <= 0) return;  // the first one is about the time before
  const double seconds = std::min(gap, kLongestGap);
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

}  // namespace tutti
