#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// A GPU to plan a training for.
struct PlannedGpu {
  std::string name{};
  Bytes memory{};
};

/// The arguments of `tutti-engine plan-classifier`.
struct ClassifierPlanRequest {
  std::vector<PlannedGpu> gpus{};
  std::filesystem::path data{};  ///< a set of 'tutti prepare classifier'; empty: one of note 003's size
  bool json = false;
};

/// What `tutti train classifier` is to be started with on each GPU, and what that takes of its memory, for people or as
/// one JSON object. A step of a few hundred segments on this machine's processor verifies what the plan supposes of a
/// segment; where it took more, the plan has that. Note 003's table of four GPUs is beside it.
///
/// Calls keep_step_memory: for a process that does nothing else. Fault::missing and Fault::corrupt as
/// LabelledSet::open.
Result<std::string> plan_classifier(const ClassifierPlanRequest& request);

}  // namespace tutti
