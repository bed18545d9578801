#include "train/classifier/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>

#include "base/field_names.h"
#include "base/log.h"
#include "base/random/counter_random.h"
#include "base/try.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "model/gpu/out_of_memory.h"
#include "train/classifier/memory_plan.h"

namespace tutti {
namespace {

// Values of 16 bits.
constexpr std::size_t kCacheLine = 32, kAheadOfRow = 128;
constexpr std::size_t kRowsAhead = 16;

/// All features of the set, as a tensor over the set's own memory: [rows, n_mels, frames] float16.
at::Tensor view_of(const LabelledSet& set) {
  const auto& g = set.geometry();
  auto* data = const_cast<std::uint16_t*>(set.mel().data());  // read only, whatever at::from_blob wants
  return at::from_blob(data, {set.rows(), g.mel.n_mels, g.frames()}, at::TensorOptions(at::kHalf));
}

/// Mean and deviation of every mel over the set, of 65,536 rows at most, spread evenly: [2, n_mels, 1] float32.
at::Tensor statistics_of(const LabelledSet& set) {
  constexpr std::int64_t kEnough = 65'536, kAtOnce = 1024;
  const auto all = view_of(set);
  const auto count = std::min(set.rows(), kEnough);
  const auto mels = set.geometry().mel.n_mels;
  auto sum = at::zeros({mels}, at::TensorOptions(at::kDouble)), squares = at::zeros_like(sum);
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    const auto rows = at::arange(first, std::min(first + kAtOnce, count), at::TensorOptions(at::kLong));
    const auto spread = at::div(rows * set.rows(), at::scalar_tensor(count, at::kLong), "trunc");
    const auto part = all.index_select(0, spread).to(at::kDouble);
    sum += part.sum(at::IntArrayRef({0, 2}));
    squares += part.square().sum(at::IntArrayRef({0, 2}));
  }
  const double values = static_cast<double>(count * set.geometry().frames());
  const auto mean = sum / values;
  const auto deviation = (squares / values - mean.square()).clamp_min(1e-6).sqrt();
  return at::stack({mean, deviation}).unsqueeze(2).to(at::kFloat);
}

/// Each label's weight in the loss: the mean over the set's files is 1. The label `boosted` counts `boost` times that.
at::Tensor label_weights(const LabelledSet& set, bool by_frequency, std::int64_t boosted, double boost) {
  const auto labels = std::ssize(set.labels());
  std::vector<std::int64_t> counts(set.labels().size());
  for (std::int64_t file = 0; file < set.files(); ++file) ++counts[static_cast<std::size_t>(set.label_of_file(file))];
  const auto present = std::ranges::count_if(counts, [](auto count) { return count > 0; });
  std::vector<float> weights(static_cast<std::size_t>(labels), 1);
  for (std::size_t i = 0; i < counts.size() && by_frequency; ++i)
    if (counts[i] > 0)
      weights[i] = static_cast<float>(static_cast<double>(set.files()) / static_cast<double>(present * counts[i]));
  if (boosted >= 0) weights[static_cast<std::size_t>(boosted)] *= static_cast<float>(boost);
  return at::tensor(weights, at::TensorOptions(at::kFloat));
}

ClassifierShape shape_of(const ClassifierRecipe& recipe, const LabelledSet& set, bool has_against) {
  constexpr std::int64_t kNoteChannels = 32;
  const auto channels = recipe.network.channels > 0 ? recipe.network.channels : kNoteChannels;
  auto shape = classifier_shape(set.geometry(), std::ssize(set.labels()), channels, has_against);
  if (recipe.network.hidden > 0) shape.hidden = recipe.network.hidden;
  return shape;
}

}  // namespace

Result<std::string> against_of(const ClassifierRecipe& recipe, const LabelledSet& set) {
  const auto& labels = set.labels();
  const auto has = [&](const std::string& label) { return std::ranges::find(labels, label) != labels.end(); };
  if (recipe.network.against == "none") return std::string();
  if (recipe.network.against.empty()) {
    const bool is_leak = set.geometry().name.starts_with("leak") && has("LEAK");
    return std::string(is_leak ? "LEAK" : "");
  }
  if (has(recipe.network.against)) return recipe.network.against;
  return fail(Fault::usage, "against: the set has no label '" + recipe.network.against + "'");
}

Result<std::unique_ptr<ClassifierTask>> ClassifierTask::start(const ClassifierRecipe& recipe,
                                                              std::shared_ptr<const LabelledSet> set) {
  const auto device = TRY(device_named(recipe.arithmetic.device));
  const auto against = TRY(against_of(recipe, *set));
  if (recipe.network.binary_mode && against.empty())
    return fail(Fault::usage, "binary-mode: the label that is learned against the rest is not known",
                "Name it with " + field("against"));
  if (recipe.network.binary_mode) set = set->one_against_rest(against);
  const c10::AutoGradMode no_gradients(false);
  const auto statistics = statistics_of(*set).to(device);
  ClassifierModel model{
      .geometry = set->geometry(),
      .labels = set->labels(),
      .against = against,
      .is_binary = recipe.network.binary_mode,
      .shape = shape_of(recipe, *set, !against.empty()),
      .mean = statistics[0],
      .deviation = statistics[1],
  };
  model.weights = new_classifier(model.shape, mixed({recipe.arithmetic.seed, digest("weights")}), device);
  for (auto& weight : model.weights) weight.value.set_requires_grad(true);
  std::unique_ptr<ClassifierTask> task(new ClassifierTask(std::move(model), std::move(set), recipe, device));
  task->keep_on_device();
  return task;
}

ClassifierTask::ClassifierTask(ClassifierModel model, std::shared_ptr<const LabelledSet> set,
                               const ClassifierRecipe& recipe, at::Device device)
    : model_(std::move(model)),
      set_(std::move(set)),
      recipe_(recipe),
      device_(device),
      augmentation_(recipe, set_->geometry(), device),
      loss_{.label_weights = label_weights(*set_, recipe.loss.class_weights == ClassWeights::inverse,
                                           recipe.network.binary_mode ? model_.rule().label : -1, recipe.network.boost)
                                 .to(device),
            .label_smoothing = recipe.loss.label_smoothing,
            .is_focal = recipe.loss.kind == ClassifierLossKind::focal,
            .against = model_.rule().label} {}

void ClassifierTask::begin_with(const ClassifierModel& other) {
  const c10::AutoGradMode no_gradients(false);
  for (auto& own : model_.weights)
    for (const auto& theirs : other.weights)
      if (own.name == theirs.name && own.value.sizes() == theirs.value.sizes()) own.value.copy_(theirs.value);
}

/// The whole set on a GPU, where kSetShare of the memory that is free there holds it.
void ClassifierTask::keep_on_device() {
  if (!device_.is_cuda()) return;
  const auto memory = gpu::memory(index_of(device_));
  const auto bytes = static_cast<double>(set_->mel().size_bytes());
  if (memory && bytes > kSetShare * static_cast<double>(memory->free.value)) return;
  try {
    resident_ = view_of(*set_).to(device_);
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    log(Level::warning, "the set does not fit the device's memory: its batches are gathered by the host");
  }
}

/// Rows of the set, [rows, n_mels, frames] float16 in host memory.
at::Tensor ClassifierTask::gathered(const std::vector<std::int64_t>& rows) const {
  const auto values = static_cast<std::size_t>(set_->row_values());
  auto out = at::empty({std::ssize(rows), model_.shape.n_mels, model_.shape.frames}, at::TensorOptions(at::kHalf));
  auto* to = static_cast<std::uint16_t*>(out.mutable_data_ptr());
  const auto* from = set_->mel().data();
  const auto row = [&](std::size_t i) { return from + static_cast<std::size_t>(rows[i]) * values; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Rows are anywhere in memory: it takes a row as long to come from there as it takes to copy some that are here.
    if (i + kRowsAhead < rows.size())
      for (std::size_t value = 0; value < std::min(values, kAheadOfRow); value += kCacheLine)
        __builtin_prefetch(row(i + kRowsAhead) + value);
    std::memcpy(to + i * values, row(i), values * sizeof(std::uint16_t));
  }
  return out;
}

/// The inputs: rows of the set (their features, unless those are on the device) and their labels; with augmentation
/// what is drawn for them; with mixtures the rows, features and labels of those behind them.
TaskBatch ClassifierTask::prepare(const Batch& batch) {
  const c10::AutoGradMode no_gradients(false);
  TaskBatch prepared{.targets = batch.size(), .recordings = batch.size()};
  prepared.ids = RowIds(prepared.targets, [rows = batch.rows(), set = set_](auto& ids) {
    for (const auto row : rows) ids.push_back(set->id_of(row));
  });
  auto labels = at::empty({batch.size()}, at::TensorOptions(at::kLong));
  auto* label = labels.mutable_data_ptr<std::int64_t>();
  for (const auto row : batch.rows()) *label++ = set_->label_of_file(set_->file_of(row));
  const auto rows =
      resident_.defined() ? at::tensor(batch.rows(), at::TensorOptions(at::kLong)) : gathered(batch.rows());
  prepared.inputs = {rows, labels};
  if (augmentation_.is_off()) return prepared;
  for (auto& draws : augmentation_.drawn(batch)) prepared.inputs.push_back(std::move(draws));
  if (augmentation_.mixes())
    prepared.inputs.insert(prepared.inputs.end(), {at::roll(rows, 1, 0), at::roll(labels, 1, 0)});
  return prepared;
}

/// The features of rows as `prepare` hands them on: [rows, n_mels, frames] float32, in decibels.
at::Tensor ClassifierTask::features_of(const at::Tensor& rows) const {
  return (resident_.defined() ? resident_.index_select(0, rows) : rows).to(at::kFloat);
}

at::Tensor ClassifierTask::loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) {
  constexpr std::size_t kPlainInputs = 2;
  const bool augments = inputs.size() > kPlainInputs;
  const bool mixes = augments && augmentation_.mixes();
  at::Tensor x, own_shares;
  {
    const c10::AutoGradMode no_gradients(false);
    x = features_of(inputs[0]);
    const std::vector draws(inputs.begin() + kPlainInputs,
                            inputs.begin() + kPlainInputs + (augments ? std::ptrdiff_t(augmentation_.tensors()) : 0));
    x = augments ? augmentation_.masked(model_.normalised(augmentation_.changed(x, draws)), draws)
                 : model_.normalised(x);
    if (mixes) {
      own_shares = augmentation_.own_shares(draws);
      const auto others = model_.normalised(features_of(inputs[inputs.size() - 2]));
      x = at::lerp(others, x, own_shares.view({-1, 1, 1}));
    }
  }
  const auto logits = classifier_logits(model_.shape, model_.weights, x, dropout ? recipe_.network.dropout : 0);
  const auto losses = losses_of(loss_, logits, inputs[1]);
  if (!mixes) return losses.sum();
  return at::lerp(losses_of(loss_, logits, inputs.back()), losses, own_shares).sum();
}

Result<std::vector<FileAnswer>> classify_set(const ClassifierModel& model, const LabelledSet& set,
                                             std::int64_t batch_size, const std::function<bool()>& interrupted) {
  const c10::AutoGradMode no_gradients(false);
  const auto all = view_of(set);
  const auto segments = set.geometry().segments();
  const auto files_at_once = std::max<std::int64_t>(1, batch_size / segments);
  std::vector<FileAnswer> answers;
  for (std::int64_t first = 0; first < set.files(); first += files_at_once) {
    if (interrupted()) return fail(Fault::cancelled, "the evaluation was interrupted");
    const auto count = std::min(files_at_once, set.files() - first);
    const auto rows = model.normalised(all.narrow(0, first * segments, count * segments));
    const auto all_segments = model.probabilities(rows).to(at::kCPU);
    for (std::int64_t file = 0; file < count; ++file) {
      answers.push_back(model.answer_of(all_segments.narrow(0, file * segments, segments)));
      answers.back().label = set.label_of_file(first + file);
    }
  }
  return votes_of(answers, set.recordings());
}

}  // namespace tutti
