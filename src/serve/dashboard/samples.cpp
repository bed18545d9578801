#include "serve/dashboard/samples.h"

#include <algorithm>

namespace tutti {

void FleetSamples::add(double unix_seconds, Seconds audio_done, std::optional<double> busy) {
  const double audio = audio_done.count();
  const auto before = last_;
  last_ = Seen{unix_seconds, audio};
  if (!before || unix_seconds <= before->at || audio < before->audio) return;
  const double time = unix_seconds - before->at;
  for (Level& level : levels_) {
    if (level.begun == 0 || unix_seconds - level.begun > 2 * level.step) {  // what came before a gap is not stretched
      level.begun = before->at;
      level.audio = level.busy = level.time = 0;
    }
    level.audio += audio - before->audio;
    level.busy += busy.value_or(0) * time;
    level.time += time;
    if (unix_seconds - level.begun < level.step) continue;
    level.samples.push_back(
        {.at = unix_seconds, .speed = level.audio / level.time, .busy = std::optional(level.busy / level.time)});
    if (level.samples.size() > level.most) level.samples.pop_front();
    level.begun = unix_seconds;
    level.audio = level.busy = level.time = 0;
  }
}

std::vector<FleetSample> FleetSamples::since(double unix_seconds, double span) const {
  const Level* finest = &levels_[2];
  for (const Level& level : levels_)
    if (level.step * static_cast<double>(level.most) >= span) {
      finest = &level;
      break;
    }
  std::vector<FleetSample> found;
  std::ranges::copy_if(finest->samples, std::back_inserter(found),
                       [&](const FleetSample& sample) { return sample.at >= unix_seconds - span; });
  return found;
}

}  // namespace tutti
