#include "train/whisper/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <cstring>

#include "base/json.h"
#include "base/log.h"
#include "base/random/counter_random.h"
#include "base/try.h"
#include "base/units.h"
#include "model/convert/hugging_face_files.h"
#include "model/device_name.h"
#include "model/gpu/out_of_memory.h"
#include "train/whisper/frame_targets.h"
#include "train/whisper/network/local_attention.h"
#include "train/whisper/new_vocabulary.h"

namespace tutti {
namespace {

using FileMap = std::map<std::string, std::string>;

WhisperShape shape_of(const WhisperRecipe::Network& n, std::int32_t n_vocab) {
  return openai_shape({.n_mels = n.mels,
                       .n_audio_ctx = static_cast<std::int32_t>(std::lround(n.window_seconds * kPositionsPerSecond)),
                       .n_audio_state = n.width,
                       .n_audio_head = n.heads,
                       .n_audio_layer = n.encoder_layers,
                       .n_vocab = n_vocab,
                       .n_text_ctx = n.text_context,
                       .n_text_state = n.width,
                       .n_text_head = n.heads,
                       .n_text_layer = n.decoder_layers});
}

LabelRules rules_of(const WhisperRecipe& r, const WhisperDims& dims) {
  return {.language = r.targets.language,
          .translate = r.targets.task == WhisperRecipe::SpeechTask::translate,
          .timestamps = r.targets.timestamps,
          .morse_marks = r.targets.labels == WhisperRecipe::LabelKind::morse,
          .seed = r.arithmetic.seed,
          .n_text_ctx = dims.n_text_ctx,
          .n_vocab = dims.n_vocab};
}

/// [rows, n_mels, frames], in the batch's own memory: of Whisper's windows a copy would take as much again for every
/// batch of the ring.
at::Tensor mel_of(const Batch& batch) {
  // from_blob wants a mutable pointer; nothing writes through it.
  return at::from_blob(
      const_cast<float*>(batch.row(0)), {batch.size(), batch.n_mels, batch.frames}, [held = batch.mel()](void*) {},
      at::kFloat);
}

/// Where features are computed; none: by the feed.
Result<std::optional<at::Device>> data_device_of(const WhisperRecipe& recipe) {
  if (recipe.hardware.data_gpu.empty()) return std::optional<at::Device>();
  const auto device =
      device_named(recipe.hardware.data_gpu == "model" ? recipe.arithmetic.device : recipe.hardware.data_gpu);
  if (!device) return fail_in("data-gpu", device.error());
  return std::optional(*device);
}

/// Every row followed by silence up to `frames`: its least value is what log-mel makes of silence there.
at::Tensor filled_up(const at::Tensor& mel, std::int64_t frames) {
  auto whole = mel.amin({1, 2}, /*keepdim=*/true).expand({mel.size(0), mel.size(1), frames}).clone();
  whole.narrow(2, 0, mel.size(2)).copy_(mel);
  return whole;
}

/// The frames of rows that came `frames` long and are computed as `mel`.
FrameCounts frames_of(const std::vector<const BatchSample*>& samples, std::int64_t frames, const at::Tensor& mel) {
  FrameCounts counts{.computed = mel.size(0) * mel.size(2)};
  counts.filled_up = counts.computed - mel.size(0) * frames;
  counts.padding = counts.computed;
  for (const BatchSample* sample : samples) counts.padding -= sample->frames;
  return counts;
}

/// Writes how the network was trained, for every program that loads it: whether never without times, and which heads of
/// so many layers look where a token is spoken.
void record_how_taught(FileMap& files, bool always_times, std::int64_t aligned_layers) {
  auto& text = files["generation_config.json"];
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  if (always_times) json["return_timestamps"] = true;
  if (aligned_layers > 0) json["alignment_heads"] = nlohmann::ordered_json::array();
  for (std::int64_t layer = 0; layer < aligned_layers; ++layer) json["alignment_heads"].push_back({layer, 0});
  text = json.dump(1) + "\n";
}

}  // namespace

WhisperTask::WhisperTask(WhisperParameters parameters, Labels labels, Files files, const WhisperRecipe& recipe,
                         at::Device device)
    : parameters_(std::move(parameters)),
      labels_(std::move(labels)),
      files_(std::move(files)),
      device_(device),
      learning_(recipe.learning),
      window_share_(recipe.packing.window_share),
      seed_(recipe.arithmetic.seed),
      forward_{.dropout = learning_.dropout, .recompute = recipe.hardware.gradient_checkpointing} {
  mark_trained(parameters_, learning_.freeze_encoder);
  if (learning_.lora_rank > 0)
    lora_.emplace(parameters_, LowRank{learning_.lora_rank, learning_.lora_alpha}, learning_.freeze_encoder,
                  mixed({recipe.arithmetic.seed, digest("lora")}));
  trained_ = lora_ ? lora_->parameters() : parameters_.all;
  if (learning_.ctc_weight <= 0 && learning_.frame_weight <= 0) return;
  ctc_.emplace(dims().n_audio_state, labels_.tokenizer().special().eot, mixed({recipe.arithmetic.seed, digest("ctc")}),
               device_);
  trained_.insert(trained_.end(), ctc_->parameters().begin(), ctc_->parameters().end());
}

Result<std::unique_ptr<WhisperTask>> WhisperTask::start(const WhisperRecipe& recipe,
                                                        const std::filesystem::path& model) {
  const auto found = TRY(device_named(recipe.arithmetic.device));
  const at::Device device = found;
  const auto data_device = TRY(data_device_of(recipe));
  const auto finish = [&](WhisperParameters parameters, Tokenizer tokenizer,
                          Files files) -> Result<std::unique_ptr<WhisperTask>> {
    auto labels = TRY(Labels::make(std::move(tokenizer), rules_of(recipe, parameters.shape.dims)));
    std::unique_ptr<WhisperTask> task(
        new WhisperTask(std::move(parameters), std::move(labels), std::move(files), recipe, device));
    if (data_device) task->features_.emplace(task->data_device_ = *data_device, task->dims().n_mels);
    return task;
  };
  if (model.empty()) {
    auto vocabulary = new_vocabulary(recipe.network.vocabulary);
    if (!vocabulary) return fail_in("vocabulary", vocabulary.error());
    const auto shape = shape_of(recipe.network, vocabulary->n_vocab);
    if (auto checked = check_shape(shape); !checked) return fail_in("the new network", checked.error());
    const auto tokenizer = vocabulary->tokenizer;
    auto parameters = new_parameters(shape, mixed({recipe.arithmetic.seed, digest("weights")}), device);
    if (recipe.network.local_attention) look_nearby(parameters);
    return finish(std::move(parameters), tokenizer,
                  [=](WeightType type) { return Result<FileMap>(new_hugging_face_files(shape, tokenizer, type)); });
  }
  auto opened = TRY(open_checkpoint(model));
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(opened));
  auto parameters = TRY(stored_parameters(checkpoint, device));
  auto tokenizer = Tokenizer::load(model, checkpoint->shape.dims.n_vocab);
  if (!tokenizer) return fail_in("tokenizer of " + model.string(), tokenizer.error());
  return finish(std::move(parameters), std::move(*tokenizer),
                [checkpoint](WeightType type) { return hugging_face_files(*checkpoint, type); });
}

Result<void> WhisperTask::keep_on_device(std::shared_ptr<const PackedSet> set) {
  set_ = TRY(DeviceSet::load(std::move(set), device_));
  data_device_ = device_;
  return {};
}

/// [rows, n_mels, frames]: the batch's, gathered or computed now.
at::Tensor WhisperTask::features_of(const Batch& batch) {
  if (set_ && std::holds_alternative<BatchGather>(batch.content)) return (*set_)(batch);
  if (!features_) return mel_of(batch);
  try {
    return (*features_)(batch);
  } catch (const std::exception& problem) {
    if (features_->device().is_cpu() || !is_out_of_memory(problem)) throw;
    features_.emplace(at::kCPU, dims().n_mels);
    log(Level::warning,
        "memory ran out: features are computed on the cores from now on, not on the device of data-gpu");
    return (*features_)(batch);
  }
}

/// The features of the rows that are kept, sometimes with silence up to the window.
at::Tensor WhisperTask::audio_rows(const Batch& batch, const std::vector<std::int64_t>& kept) {
  const auto mel = features_of(batch);
  const bool all = std::ssize(kept) == batch.size();
  const auto used = all ? mel : mel.index_select(0, at::tensor(kept).to(mel.device()));
  CounterRandom random({seed_, static_cast<std::uint64_t>(batch.index), digest("window")});
  const auto window = 2 * std::int64_t{dims().n_audio_ctx};
  return random.chance(window_share_) && used.size(2) < window ? filled_up(used, window) : used;
}

TaskBatch WhisperTask::prepare(const Batch& batch) {
  TaskBatch made;
  std::vector<LabelRow> rows;
  std::vector<std::int64_t> kept;
  std::vector<const BatchSample*> samples;
  std::vector<std::string> ids;
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const auto& sample = batch.samples[static_cast<std::size_t>(i)];
    auto row = labels_.row(sample, batch.epoch);
    if (!row) {
      made.refused.emplace_back(sample.id, row.error().what);
      continue;
    }
    made.targets += static_cast<std::int64_t>(row->targets.size());
    made.recordings += sample.begins ? 1 : 0;
    ids.push_back(sample.id);
    rows.push_back(std::move(*row));
    kept.push_back(i);
    samples.push_back(&sample);
  }
  if (rows.empty()) return made;
  made.ids = std::move(ids);
  made.inputs.push_back(audio_rows(batch, kept));
  made.frames = frames_of(samples, batch.frames, made.inputs.front());
  auto labels = label_tensors(rows, labels_.tokenizer().special().eot);
  made.inputs.push_back(std::move(labels.decoder_input));
  made.inputs.push_back(std::move(labels.targets));
  const auto positions = (made.inputs.front().size(2) + 1) / 2;
  if (learning_.ctc_weight > 0) {
    std::vector<std::int64_t> frames;
    for (const BatchSample* sample : samples) frames.push_back(sample->frames);
    auto spelled = spelled_tensors(rows, frames, labels_.tokenizer().special().eot);
    made.inputs.push_back(std::move(spelled.tokens));
    made.inputs.push_back(std::move(spelled.lengths));
  }
  if (learning_.frame_weight > 0)
    made.inputs.push_back(tokens_at_positions(samples, labels_.tokenizer(), positions, ctc_->blank()));
  if (learning_.attention_weight > 0)
    made.inputs.push_back(positions_of_tokens(samples, rows, labels_.tokenizer(), positions));
  return made;
}

at::Tensor WhisperTask::encoder_states(const WhisperWeights& weights, const at::Tensor& mel,
                                       const ForwardOptions& options) const {
  if (!learning_.freeze_encoder) return encode(weights, dims(), mel, options);
  const c10::AutoGradMode no_gradients(false);
  return encode(weights, dims(), mel, {});
}

at::Tensor WhisperTask::loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) {
  auto options = forward_;
  if (!dropout) options.dropout = 0;
  const auto weights = current();
  const auto states = encoder_states(weights, inputs[0], options);
  std::vector<at::Tensor> watched;
  const auto logits =
      decode(weights, dims(), inputs[1], states, options, learning_.attention_weight > 0 ? &watched : nullptr);
  auto loss = at::cross_entropy_loss(logits.flatten(0, 1).to(at::kFloat), inputs[2].flatten(), {}, at::Reduction::Sum,
                                     kIgnoredTarget);
  auto next = inputs.begin() + 3;  // in the order of prepare()
  if (learning_.ctc_weight > 0) {
    loss = loss + learning_.ctc_weight * ctc_->loss_sum(states, next[0], next[1]);
    next += 2;
  }
  if (learning_.frame_weight > 0) loss = loss + learning_.frame_weight * ctc_->timed_loss_sum(states, *next++);
  if (learning_.attention_weight > 0) loss = loss + learning_.attention_weight * attention_loss_sum(watched, *next++);
  return loss;
}

FileMap WhisperTask::files(const std::string& type) const {
  auto made = files_(weight_type_named(type).value_or(WeightType::float32));
  if (!made) throw std::runtime_error(made.error().text());  // the tokenizer was read once already
  record_how_taught(*made, labels_.rules().timestamps == 1, learning_.attention_weight > 0 ? dims().n_text_layer : 0);
  return std::move(*made);
}

std::vector<Parameter> WhisperTask::weights() const {
  if (!lora_) return parameters_.all;
  const c10::AutoGradMode no_gradients(false);
  WhisperParameters merged{.shape = parameters_.shape, .weights = lora_->merged()};
  std::size_t i = 0;
  for (const auto& slot : weight_slots(merged.weights, merged.shape))
    merged.all.push_back({parameters_.all[i++].name, *slot.tensor});
  return merged.all;
}

WhisperModel WhisperTask::snapshot() const {
  const c10::AutoGradMode no_gradients(false);
  auto copy = current();
  for (const auto& slot : weight_slots(copy, parameters_.shape)) *slot.tensor = slot.tensor->detach().clone();
  return WhisperModel::over(std::move(copy), dims(), device_, ComputeType::float32);
}

}  // namespace tutti
