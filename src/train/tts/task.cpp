#include "train/tts/task.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/try.h"
#include "model/device_name.h"

namespace tutti {
namespace {

// A new network's first steps share the frames of a clip out evenly. A search among means that are noise would give
// most symbols one frame, and what such symbols then learn keeps them there: 9.7 % of one speaker's digits were
// misread so, and 0.8 % with even first steps.
constexpr std::int64_t kEvenSteps = 60;

/// A recipe's size with the dimensions that it names.
Result<VoiceShape> shape_of(const TtsRecipe::Network& wanted) {
  auto shape = voice_shape(wanted.model_size.word());
  if (!shape) return shape;
  const auto take = [](std::int64_t& into, std::int32_t value) {
    if (value > 0) into = value;
  };
  constexpr std::int64_t kLanes = 8;  // products of other widths take longer
  if (wanted.width > 0) shape->inner = rounded_up(shape->inner * wanted.width / shape->width, kLanes);
  if (wanted.decoder_width > 0)
    shape->decoder_inner = rounded_up(shape->decoder_inner * wanted.decoder_width / shape->decoder_width, kLanes);
  take(shape->width, wanted.width);
  take(shape->layers, wanted.encoder_layers);
  take(shape->decoder_width, wanted.decoder_width);
  take(shape->decoder_layers, wanted.decoder_layers);
  if (shape->width % (2 * shape->heads) != 0)
    return fail(Fault::usage, "width: expected a multiple of " + std::to_string(2 * shape->heads) + ", found " +
                                  std::to_string(shape->width));
  return shape;
}

Result<VoiceModel> new_voice(const TtsRecipe& recipe, const VoiceSet& set, at::Device device) {
  const auto shape = TRY(shape_of(recipe.network));
  return VoiceModel::start(set, shape, mixed({recipe.arithmetic.seed, digest("weights")}), device);
}

/// The embeddings of speakers by name; those that the stored voice does not have begin as the mean of its own.
at::Tensor speakers_from(const VoiceModel& stored, const at::Tensor& embeddings,
                         const std::vector<std::string>& names) {
  std::vector<at::Tensor> rows;
  for (const auto& name : names) {
    const auto found = std::ranges::find(stored.speakers, name);
    rows.push_back(found == stored.speakers.end() ? embeddings.mean(0) : embeddings[found - stored.speakers.begin()]);
  }
  return at::stack(rows);
}

Result<VoiceModel> stored_voice(const TtsRecipe& recipe, const VoiceSet& set, at::Device device) {
  auto model = VoiceModel::load(recipe.network.model, device);
  if (!model) return model;
  TRY(model->expect_form_of(set, recipe.network.model));
  model->label = set.format().label;
  // What is learned now has a melody and lengths of its own.
  model->settings.assign(model->speakers.size(), {});
  if (model->speakers == set.format().speakers) return model;
  const c10::AutoGradMode no_gradients(false);
  auto shape = model->network.shape;
  auto renewed = VoiceModel::start(set, shape, std::nullopt, device);
  for (std::size_t i = 0; i < renewed.network.all.size(); ++i) {
    const auto& from = model->network.all[i].value;
    const auto& to = renewed.network.all[i].value;
    const bool is_speakers = model->network.all[i].name == "encoder.speakers";
    at::Tensor(to).copy_(is_speakers ? speakers_from(*model, from, renewed.speakers) : from);
  }
  renewed.mean = model->mean;
  renewed.deviation = model->deviation;
  return renewed;
}

VoiceRows rows_from(const std::vector<at::Tensor>& inputs) {
  return {.symbols = inputs[0],
          .symbol_counts = inputs[1],
          .mel = inputs[2],
          .frame_counts = inputs[3],
          .speakers = inputs[4],
          .crop = inputs[5],
          .time = inputs[6],
          .is_even = inputs[7]};
}

/// The rows without their spectrograms, of so many symbols; the counts of frames are those of the set.
VoiceRows texts_of(const VoiceSet& set, std::span<const std::int64_t> clips, std::int64_t symbols) {
  std::int64_t most_symbols = 1;
  for (const auto clip : clips) most_symbols = std::max(most_symbols, set.symbols(clip));
  const auto rows = std::ssize(clips), length = symbols > 0 ? symbols : rounded_up(most_symbols, kSymbolsStep);
  const at::TensorOptions whole(at::kLong);
  VoiceRows out{.symbols = at::zeros({rows, length}, whole),
                .symbol_counts = at::empty({rows}, whole),
                .frame_counts = at::empty({rows}, whole),
                .speakers = at::empty({rows}, whole)};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto clip = set.clip(clips[static_cast<std::size_t>(row)]);
    std::ranges::copy(clip.symbols, out.symbols.mutable_data_ptr<std::int64_t>() + row * length);
    out.symbol_counts.mutable_data_ptr<std::int64_t>()[row] = std::ssize(clip.symbols);
    out.frame_counts.mutable_data_ptr<std::int64_t>()[row] = clip.frames;
    out.speakers.mutable_data_ptr<std::int64_t>()[row] = clip.speaker;
  }
  return out;
}

/// The set's spectrograms: [rows, frames, mels] float32; frames 0: of the longest.
at::Tensor spectrograms_of(const VoiceSet& set, const VoiceModel& model, std::span<const std::int64_t> clips,
                           std::int64_t frames) {
  std::int64_t most_frames = 1;
  for (const auto clip : clips) most_frames = std::max(most_frames, set.frames(clip));
  if (frames == 0) frames = rounded_up(most_frames, kFramesStep);
  const auto rows = std::ssize(clips), mels = model.network.shape.mels;
  auto out = at::zeros({rows, frames, mels}, at::TensorOptions(at::kFloat));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto clip = set.clip(clips[static_cast<std::size_t>(row)]);
    auto* mel = out.mutable_data_ptr<float>() + row * frames * mels;
    const auto bins = model.mean.size();
    for (std::size_t frame = 0; frame < clip.mel.size(); frame += bins)
      for (std::size_t bin = 0; bin < bins; ++bin)
        mel[frame + bin] = (clip.mel[frame + bin] - model.mean[bin]) / model.deviation;
  }
  return out;
}

/// The thread that makes batches ready has the data device's cores; of a processor that steps, too, one of its threads.
DataStage data_stage_of(const ComputeDevice& data, const ComputeDevice& model) {
  DataStage stage{.device = data.device, .cores = data.cores, .counts_apart = true};
  if (data.device.is_cpu() && model.device.is_cpu() && stage.cores.threads == 0) stage.cores.threads = 1;
  return stage;
}

}  // namespace

VoiceRows rows_of(const VoiceSet& set, const VoiceModel& model, std::span<const std::int64_t> clips,
                  const BatchShape& shape) {
  auto rows = texts_of(set, clips, shape.symbols);
  rows.mel = spectrograms_of(set, model, clips, shape.frames);
  return rows;
}

Result<std::unique_ptr<TtsTask>> TtsTask::start(const TtsRecipe& recipe, VoiceData data) {
  auto device = compute_device_named(recipe.arithmetic.device);
  TRY(device);
  const bool has_data_device = !recipe.data.gpu.empty();
  const bool is_other = has_data_device && recipe.data.gpu != "model";
  const auto data_device = is_other ? compute_device_named(recipe.data.gpu) : device;
  if (!data_device) return fail_in("data-gpu", data_device.error());
  const auto& set = *data.set;
  auto model = TRY(recipe.network.model.empty() ? new_voice(recipe, set, device->device)
                                                : stored_voice(recipe, set, device->device));
  for (auto& weight : model.network.all) weight.value.set_requires_grad(true);
  std::unique_ptr<TtsTask> task(new TtsTask(std::move(model), std::move(data), recipe, *device));
  if (!has_data_device) return task;
  task->stage_ = data_stage_of(*data_device, *device);
  if (task->data_.waveforms)
    task->features_.emplace(data_device->device, task->data_.set, task->data_.waveforms, recipe, task->model_);
  else
    task->stage_.device = at::kCPU;  // nothing is computed there: it would only relay
  return task;
}

TtsTask::TtsTask(VoiceModel model, VoiceData data, const TtsRecipe& recipe, ComputeDevice device)
    : model_(std::move(model)), data_(std::move(data)), recipe_(recipe), device_(std::move(device)) {}

VoiceRows TtsTask::rows_of_batch(std::span<const std::int64_t> clips, std::int64_t epoch,
                                 const BatchShape& shape) const {
  if (!features_) return rows_of(*data_.set, model_, clips, shape);
  auto rows = texts_of(*data_.set, clips, shape.symbols);
  auto made = (*features_)(clips, epoch, shape.frames, kFramesStep);
  rows.mel = std::move(made.mel);
  rows.frame_counts = at::tensor(made.frames);
  return rows;
}

TaskBatch TtsTask::prepare(const Batch& batch) {
  const c10::AutoGradMode no_gradients(false);
  const auto part = data_.set->part(VoicePart::training);
  const auto count = batch.size();
  TaskBatch prepared{.targets = count, .recordings = count};
  std::vector<std::int64_t> clips;
  for (const auto row : batch.rows()) clips.push_back(part[static_cast<std::size_t>(row)]);
  const auto shape = data_.buckets && count > 0 ? data_.buckets->shape_of(batch.rows().front()) : BatchShape{};
  auto rows = rows_of_batch(clips, batch.epoch, shape);
  rows.crop = at::empty({count}, at::TensorOptions(at::kFloat));
  rows.time = at::empty({count}, at::TensorOptions(at::kFloat));
  const bool is_new =
      recipe_.network.model.empty() && batch.index < kEvenSteps * std::max(recipe_.batches.accumulation, 1);
  rows.is_even = at::full({count}, is_new, at::TensorOptions(at::kBool));
  for (std::int64_t row = 0; row < count; ++row) {
    const auto clip = clips[static_cast<std::size_t>(row)];
    CounterRandom random({recipe_.arithmetic.seed, static_cast<std::uint64_t>(batch.epoch),
                          static_cast<std::uint64_t>(clip), digest("crop and time")});
    rows.crop.mutable_data_ptr<float>()[row] = static_cast<float>(random.uniform());
    rows.time.mutable_data_ptr<float>()[row] = static_cast<float>(random.uniform());
    prepared.frames.computed += rows.mel.size(1);
    prepared.frames.padding += rows.mel.size(1) - rows.frame_counts.const_data_ptr<std::int64_t>()[row];
  }
  prepared.ids = RowIds(count, [clips, set = data_.set](auto& ids) {
    for (const auto clip : clips) ids.emplace_back(set->clip(clip).name);
  });
  prepared.inputs = {rows.symbols,  rows.symbol_counts, rows.mel,  rows.frame_counts,
                     rows.speakers, rows.crop,          rows.time, rows.is_even};
  return prepared;
}

at::Tensor TtsTask::loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) {
  const auto rows = rows_from(inputs);
  const auto noise = at::randn({rows.mel.size(0), kCropFrames, rows.mel.size(2)}, rows.mel.options());
  const auto losses = voice_losses(
      model_.network, rows, noise,
      {.dropout = dropout ? recipe_.network.dropout : 0, .recompute = recipe_.network.gradient_checkpointing});
  return (losses.prior + losses.durations + losses.flow).sum();
}

Result<VoiceScores> score_voice(const VoiceModel& model, const VoiceSet& set, std::span<const std::int64_t> clips,
                                std::int64_t batch_size, const std::function<bool()>& interrupted) {
  const c10::AutoGradMode no_gradients(false);
  constexpr std::uint64_t kNoiseSeed = 7;
  auto generator = at::detail::createCPUGenerator(kNoiseSeed);
  const auto device = model.network.all.front().value.device();
  VoiceScores sums;
  for (std::int64_t first = 0; first < std::ssize(clips); first += batch_size) {
    if (interrupted()) return fail(Fault::cancelled, "the evaluation was interrupted");
    const auto count = std::min(batch_size, std::ssize(clips) - first);
    auto rows = rows_of(set, model, clips.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    rows.crop = at::full({count}, 0.5, at::TensorOptions(at::kFloat));
    rows.time = (at::arange(first, first + count, at::TensorOptions(at::kFloat)) * 0.6180339887).frac();
    const auto noise = at::randn({count, kCropFrames, rows.mel.size(2)}, generator, at::TensorOptions(at::kFloat));
    for (auto* input :
         {&rows.symbols, &rows.symbol_counts, &rows.mel, &rows.frame_counts, &rows.speakers, &rows.crop, &rows.time})
      *input = input->to(device);
    const auto losses = voice_losses(model.network, rows, noise.to(device));
    sums.prior += losses.prior.sum().item<double>();
    sums.durations += losses.durations.sum().item<double>();
    sums.flow += losses.flow.sum().item<double>();
  }
  const auto all = static_cast<double>(std::max<std::int64_t>(1, std::ssize(clips)));
  return VoiceScores{sums.prior / all, sums.durations / all, sums.flow / all};
}

}  // namespace tutti
