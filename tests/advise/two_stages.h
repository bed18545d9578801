#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advise/recording.h"

namespace tutti {

/// A recorded run of twenty files through two stages, each file for `decode` and `features` seconds; `elapsed`: of all.
inline RunRecording two_stages(double decode, double features, double elapsed) {
  RunRecording recording{.command = "features", .cores = 4, .elapsed = Seconds(elapsed)};
  for (const auto& [name, time] : {std::pair{"decode", decode}, std::pair{"features", features}})
    recording.stages.push_back({.name = name,
                                .queue = 2,
                                .threads_flag = std::string("--") + name + "-threads",
                                .items = std::vector<Seconds>(20, Seconds(time))});
  return recording;
}

}  // namespace tutti
