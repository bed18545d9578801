#include "train/checkpoint/resume.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <set>
#include <string>

#include "base/files.h"
#include "train/checkpoint/digests.h"
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
  if (const auto whole = check_digests(checkpoint); !whole) return tl::unexpected<Error>(whole.error());
  const auto text = read_file(checkpoint / "training.json");
  if (!text) return tl::unexpected<Error>(text.error());
  auto state = read_state(*text);
  if (!state) return fail_in((checkpoint / "training.json").string(), state.error());
  auto read = read_tensors(checkpoint / "training.safetensors", training_tensors(task, step));
  const auto own = trained_of(task).own;
  if (read) read = own.empty() ? check_base(checkpoint, task) : read_tensors(checkpoint / "model.safetensors", own);
  if (!read) return tl::unexpected<Error>(read.error());
  return state;
}

}  // namespace tutti
