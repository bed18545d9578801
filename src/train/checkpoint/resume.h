#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "train/checkpoint/training_state.h"
#include "train/optimiser_step/step.h"
#include "train/task.h"

namespace tutti {

/// What a checkpoint keeps beside the network: the optimiser's tensors, averages, and what is trained that is no part
/// of the network (additions to it, heads). Shared with the task and the step.
std::vector<Parameter> training_tensors(const Task& task, const TrainStep& step);

/// Continues a checkpoint: copies its tensors into the task and the step, and returns its state. Fault::corrupt where
/// it is damaged, or another recipe's, Fault::usage where it holds additions to another model than the task's; task and
/// step then hold tensors of it and must not be trained.
Result<TrainingState> restore_checkpoint(const std::filesystem::path& checkpoint, const Task& task,
                                         const TrainStep& step);

}  // namespace tutti
