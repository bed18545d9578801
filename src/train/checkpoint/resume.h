#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "train/checkpoint/training_state.h"
#include "train/optimiser_step/step.h"
#include "train/peers/peers.h"
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

/// The state that a training in OUT goes on from, its tensors copied into the task and the step. It is that of the
/// newest checkpoint which can be read, or a fresh one where there is none. The same for all processes; `peers`: the
/// others, or null. Fault::usage where OUT holds a training and `resume` was not given, or as many processes as now did
/// not write it; Fault::corrupt where no checkpoint can be read, or the processes read different ones.
Result<TrainingState> state_to_go_on_from(const std::filesystem::path& out, bool resume, const Task& task,
                                          TrainStep& step, Peers* peers);

}  // namespace tutti
