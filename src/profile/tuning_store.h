#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/live_tuner.h"
#include "base/units.h"

namespace tutti {

/// What a command knows of a pipeline that may tune itself.
struct TuningPlan {
  std::string pipeline{};           ///< the command and what changes the cost of its items: "features --vad"
  std::vector<LiveStage> stages{};  ///< in the order in which an item passes them
  bool is_on = true;                ///< the user wants it
  std::optional<Bytes> memory{};    ///< that the run may take; none: four fifths of what is available, beside its own
  int most_threads = 64;            ///< of all open stages together
};

// What tuning came to is remembered in small files below the cache's folder (cache_folder()), one for each machine and
// pipeline. They may be deleted at any time.

/// What the costs of a pipeline's items depend on.
struct TuningKey {
  std::string machine;   ///< its processor and the cores that may be used
  std::string pipeline;  ///< the command, what changes its work, and its stages
};

/// Of a pipeline on this machine.
TuningKey key_of(const TuningPlan& plan);

/// The threads of an earlier run like this. None: there was none, or its file is damaged or about something else.
std::optional<ThreadSettings> recall_tuning(const TuningKey& key);

/// Replaces what was remembered, whole or not at all. Where that fails, the next run tunes itself again.
void remember_tuning(const TuningKey& key, const TuningResult& result);

}  // namespace tutti
