#pragma once

#include <filesystem>

#include "base/error.h"
#include "train/checkpoint/training_state.h"
#include "train/optimiser_step/step.h"
#include "train/peers/peers.h"
#include "train/task.h"

namespace tutti {

/// The state that a training in OUT goes on from, its tensors copied into the task and the step. It is that of the
/// newest checkpoint which can be read, or a fresh one where there is none. The same for all processes; `peers`: the
/// others, or null. Fault::usage where OUT holds a training and `resume` was not given, or as many processes as now did
/// not write it; Fault::corrupt where no checkpoint can be read, or the processes read different ones.
Result<TrainingState> state_to_go_on_from(const std::filesystem::path& out, bool resume, const Task& task,
                                          TrainStep& step, Peers* peers);

}  // namespace tutti
