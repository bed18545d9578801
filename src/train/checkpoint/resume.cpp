#include "train/checkpoint/resume.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/try.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/tensor_file.h"

namespace tutti {
namespace {

/// What is trained: the network's own tensors, which its own file keeps, and others (additions to them, heads).
struct Trained {
  std::vector<Parameter> own{};
  std::vector<Parameter> others{};
};

Trained trained_of(const Task& task) {
  std::set<std::string> names;
  for (const auto& weight : task.weights()) names.insert(weight.name);
  Trained trained;
  for (const auto& parameter : task.trained())
    (names.contains(parameter.name) ? trained.own : trained.others).push_back(parameter);
  return trained;
}

/// Additions mean something only above the model that they were trained above: it is the checkpoint's network less
/// them. The tolerance is for sums that another device rounds in its own way.
Result<void> check_base(const std::filesystem::path& checkpoint, const Task& task) {
  const c10::AutoGradMode no_gradients(false);
  const auto now = task.weights();
  std::vector<Parameter> then;
  for (const auto& weight : now) then.push_back({weight.name, at::empty(weight.value.sizes(), at::kFloat)});
  if (auto read = read_tensors(checkpoint / "model.safetensors", then); !read) return read;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (!at::allclose(now[i].value.to(at::kCPU), then[i].value, 1e-3, 1e-5, /*equal_nan=*/true))
      return fail(Fault::usage,
                  checkpoint.string() + ": its additions (lora-rank) were trained above another model than the one " +
                      "that 'model' names now; '" + now[i].name + "' differs",
                  "Name the model that the training began with");
  return {};
}

}  // namespace

std::vector<Parameter> training_tensors(const Task& task, const TrainStep& step) {
  auto all = step.tensors();
  const auto others = trained_of(task).others;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Result<TrainingState> restore_checkpoint(const std::filesystem::path& checkpoint, const Task& task,
                                         const TrainStep& step) {
  TRY(check_digests(checkpoint));
  const auto text = TRY(read_file(checkpoint / "training.json"));
  auto state = read_state(text);
  if (!state) return fail_in((checkpoint / "training.json").string(), state.error());
  auto read = read_tensors(checkpoint / "training.safetensors", training_tensors(task, step));
  const auto own = trained_of(task).own;
  if (read) read = own.empty() ? check_base(checkpoint, task) : read_tensors(checkpoint / "model.safetensors", own);
  if (!read) return tl::unexpected<Error>(read.error());
  return state;
}

namespace {

/// The checkpoints to go on from, newest first; none where there are none yet.
Result<std::vector<std::filesystem::path>> checkpoints_of(const std::filesystem::path& out, bool resume) {
  auto found = CheckpointFolder(out).newest_first();
  if (!found.empty() && !resume)
    return fail(Fault::usage, out.string() + " holds a training already",
                "Continue it with " + field("resume") + ", or name another folder");
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
  const auto checkpoints = TRY(checkpoints_of(out, resume));
  auto state = checkpoints.empty() ? TrainingState{} : newest_state(checkpoints, task, step);
  if (!state) return state;
  const auto ranks = static_cast<std::size_t>(peers ? peers->ranks() : 1);
  if (!checkpoints.empty() && state->positions.size() != ranks)
    return fail(Fault::usage,
                out.string() + " was trained by " + std::to_string(state->positions.size()) +
                    " processes, now there are " + std::to_string(ranks),
                "Go on with as many");
  TRY(check_agreement(*state, peers));
  return state;
}

}  // namespace tutti
