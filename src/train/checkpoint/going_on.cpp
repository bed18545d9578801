#include "train/checkpoint/going_on.h"

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/resume.h"

namespace tutti {
namespace {

/// The checkpoints to go on from, newest first; none where there are none yet.
Result<std::vector<std::filesystem::path>> checkpoints_of(const std::filesystem::path& out, bool resume) {
  auto found = CheckpointFolder(out).newest_first();
  if (!found.empty() && !resume)
    return fail(Fault::usage, out.string() + " holds a training already",
                "Continue it with --resume, or name another folder");
  if (found.empty() && resume)
    log(Level::warning, out.string() + ": there is no checkpoint yet, the training starts from the beginning");
  return found;
}

/// The state of the newest checkpoint that can be read. Fails with what is wrong with the newest where none can.
Result<TrainingState> newest_state(const std::vector<std::filesystem::path>& checkpoints, const Task& task,
                                   TrainStep& step) {
  std::vector<Error> damaged;
  for (const auto& checkpoint : checkpoints) {
    auto state = restore_checkpoint(checkpoint, task, step);
    if (!state) {
      const auto fault = state.error().fault;
      if (fault != Fault::corrupt && fault != Fault::missing) return state;  // it may well be whole
      damaged.push_back(state.error());
      continue;
    }
    for (const auto& error : damaged)
      log(Level::warning, "a checkpoint cannot be used, the training goes on from " + checkpoint.filename().string() +
                              ", the one before it: " + error.what);
    return state;
  }
  auto newest = damaged.front();
  if (newest.hint.empty()) newest.hint = "No checkpoint of this training can be read: start again in another folder";
  return tl::unexpected<Error>(std::move(newest));
}

/// All processes go on from one step.
Result<void> check_agreement(const TrainingState& state, Peers* peers) {
  if (!peers) return {};
  const auto own = std::to_string(state.step);
  for (const auto& theirs : peers->gather(own))
    if (theirs != own)
      return fail(Fault::corrupt, "this process would go on from step " + own + ", another one from step " + theirs,
                  "See that all of them read the same checkpoints");
  return {};
}

}  // namespace

Result<TrainingState> state_to_go_on_from(const std::filesystem::path& out, bool resume, const Task& task,
                                          TrainStep& step, Peers* peers) {
  const auto checkpoints = checkpoints_of(out, resume);
  if (!checkpoints) return tl::unexpected<Error>(checkpoints.error());
  auto state = checkpoints->empty() ? TrainingState{} : newest_state(*checkpoints, task, step);
  if (!state) return state;
  const auto ranks = static_cast<std::size_t>(peers ? peers->ranks() : 1);
  if (!checkpoints->empty() && state->positions.size() != ranks)
    return fail(Fault::usage,
                out.string() + " was trained by " + std::to_string(state->positions.size()) +
                    " processes, now there are " + std::to_string(ranks),
                "Go on with as many");
  if (auto agreed = check_agreement(*state, peers); !agreed) return tl::unexpected<Error>(agreed.error());
  return state;
}

}  // namespace tutti
