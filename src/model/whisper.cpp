#include "model/whisper.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "base/try.h"
#include "model/cpu/compute_team.h"
#include "model/gpu/tf32.h"
#include "model/ops.h"
#include "model/state.h"
#include "model/weights.h"

namespace tutti {
namespace {

/// float32 means float32. A process computes in one type at a time, that of the network it has loaded last.
void round_products(at::Device device, ComputeType type) {
  if (device.is_cuda()) set_tf32(type == ComputeType::tf32);
}

/// The encoder's convolutions have one shape for good: cuDNN tries its kernels for it at the first window and keeps the
/// fastest. The setting is the process's, so a network over weights in training leaves it alone: batches there differ.
void tune_convolutions(at::Device device) {
  if (device.is_cuda()) at::globalContext().setBenchmarkCuDNN(true);
}

}  // namespace

Result<WhisperModel> WhisperModel::load(const std::filesystem::path& path, at::Device device, ComputeType type) {
  auto opened = TRY(open_checkpoint(path));
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(opened));
  round_products(device, type);
  tune_convolutions(device);
  auto net = TRY(bind_weights(checkpoint));
  prepare(net, type, device);
  release_read_pages(*checkpoint);
  return WhisperModel(std::make_unique<Weights>(
      Weights{checkpoint->shape.dims, device, type, layout_of(type, device), std::move(net)}));
}

WhisperModel WhisperModel::random(const WhisperDims& dims, at::Device device, ComputeType type, at::Device drawn_on) {
  round_products(device, type);
  tune_convolutions(device);
  auto net = random_weights(openai_shape(dims), drawn_on);
  prepare(net, type, device);
  return WhisperModel(std::make_unique<Weights>(Weights{dims, device, type, layout_of(type, device), std::move(net)}));
}

WhisperModel WhisperModel::over(WhisperWeights weights, const WhisperDims& dims, at::Device device, ComputeType type) {
  round_products(device, type);
  prepare(weights, type, device);
  return WhisperModel(
      std::make_unique<Weights>(Weights{dims, device, type, layout_of(type, device), std::move(weights)}));
}

WhisperModel::WhisperModel(std::unique_ptr<Weights> weights) : weights_(std::move(weights)) {}
WhisperModel::WhisperModel(WhisperModel&&) noexcept = default;
WhisperModel& WhisperModel::operator=(WhisperModel&&) noexcept = default;
WhisperModel::~WhisperModel() = default;

const WhisperDims& WhisperModel::dims() const {
  return weights_->dims;
}
at::Device WhisperModel::device() const {
  return weights_->device;
}
ComputeType WhisperModel::type() const {
  return weights_->type;
}

SelfKv WhisperModel::make_self_kv(std::int32_t slots, std::int32_t positions) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  if (positions < 0 || positions > d.n_text_ctx)
    throw std::invalid_argument("make_self_kv: a slot has 0 to " + std::to_string(d.n_text_ctx) + " positions, found " +
                                std::to_string(positions));
  SelfKv cache;
  cache.whole = at::empty({2 * d.n_text_layer, slots, d.n_text_head, positions > 0 ? positions : d.n_text_ctx,
                           d.n_text_state / d.n_text_head},
                          at::TensorOptions(weights_->layout.cache).device(weights_->device));
  for (std::int32_t layer = 0; layer < d.n_text_layer; ++layer) {
    cache.keys.push_back(cache.whole.select(0, 2 * layer));
    cache.values.push_back(cache.whole.select(0, 2 * layer + 1));
  }
  return cache;
}

namespace {

/// x: [windows * positions, n].
void run_block(at::Tensor& x, const BlockWeights& block, std::int64_t heads, std::int64_t windows,
               at::ScalarType cache) {
  const auto qkv = ops::norm_linear(x, block.attn_norm, block.attn.joined);
  const auto seen = ops::window_attention(qkv, heads, windows, cache);
  ops::add_linear(x, seen, block.attn.out);
  ops::add_mlp(x, block.mlp_norm, block.mlp_in, block.mlp_out);
}

}  // namespace

at::Tensor WhisperModel::upload(const at::Tensor& mels) const {
  const c10::InferenceMode guard;
  // From pinned memory a copy to a GPU is enqueued like everything else; together with another type it is not, because
  // torch converts on the host, into memory that is not pinned.
  const auto from = weights_->device.is_cuda() && mels.is_cpu() ? mels.pin_memory() : mels;
  return from.to(weights_->device, /*non_blocking=*/true).to(weights_->layout.activations);
}

at::Tensor WhisperModel::encode(const at::Tensor& mels) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  const auto& net = weights_->net;
  const auto windows = mels.dim() == 3 ? mels.size(0) : 1;
  const auto frames = mels.size(-1);
  if (mels.dim() < 2 || mels.dim() > 3 || windows < 1 || mels.size(-2) != d.n_mels || frames < 2 || frames % 2 != 0 ||
      frames > 2 * std::int64_t{d.n_audio_ctx}) {
    throw std::invalid_argument("encode: expected mels of [n, " + std::to_string(d.n_mels) + ", an even number up to " +
                                std::to_string(2 * d.n_audio_ctx) + "]");
  }
  if (windows > 1 && weights_->layout.own_kernels) {  // these gain nothing by more rows than a window's
    std::vector<at::Tensor> encoded;
    for (std::int64_t i = 0; i < windows; ++i) encoded.push_back(encode(mels.select(0, i)));
    return at::cat(encoded);
  }
  const auto input = upload(mels.dim() == 3 ? mels : mels.unsqueeze(0));
  auto x = ops::convolve(input, net.conv1, net.conv2, net.audio_positions.narrow(0, 0, frames / 2));
  for (const auto& block : net.encoder) run_block(x, block, d.n_audio_head, windows, weights_->layout.cache);
  return ops::layer_norm(x, net.encoder_norm);
}

CrossKv WhisperModel::cross_kv(const at::Tensor& encoded) const {
  return cross_kvs(encoded, 1).front();
}

std::vector<CrossKv> WhisperModel::cross_kvs(const at::Tensor& encoded, std::int64_t windows) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  const auto& layout = weights_->layout;
  const std::int64_t positions = encoded.size(0) / windows, layers = d.n_text_layer, heads = d.n_text_head;
  std::vector<CrossKv> kvs(static_cast<std::size_t>(windows));
  std::vector<at::Tensor> memory;
  for (std::size_t i = 0; i < kvs.size(); ++i) {
    memory.push_back(ops::cross_memory(layers, heads, positions, d.n_text_state / heads, layout, weights_->device));
  }
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const auto both = ops::linear(encoded, weights_->net.decoder[static_cast<std::size_t>(layer)].cross.joined);
    for (std::size_t i = 0; i < kvs.size(); ++i) {
      const auto of_window = both.narrow(0, static_cast<std::int64_t>(i) * positions, positions);
      const auto of_layer = memory[i].defined() ? memory[i].select(0, layer) : at::Tensor();
      kvs[i].layers.push_back(ops::keep_cross(of_window, heads, layout, of_layer));
    }
  }
  return kvs;
}

namespace {

void require(bool holds, const char* what, std::int64_t found) {
  if (!holds) throw std::invalid_argument("decode: " + std::string(what) + ", found " + std::to_string(found));
}

void add_sequence(DecodePlan& plan, const SequenceStep& step, const WhisperDims& dims, std::int64_t positions) {
  const auto first = static_cast<std::int64_t>(plan.tokens.size());
  const auto count = static_cast<std::int64_t>(step.tokens.size());
  require(count > 0, "a sequence appends at least one token", count);
  require(step.position >= 0 && step.position + count <= positions, "a sequence ends within its slot's positions",
          step.position + count);
  require(step.window != nullptr, "a sequence has a window", 0);
  plan.sequences.push_back({step.slot, step.position, first, count});
  for (const auto token : step.tokens) {
    require(token >= 0 && token < dims.n_vocab, "tokens are below n_vocab", token);
    plan.positions.push_back(step.position + static_cast<std::int64_t>(plan.tokens.size()) - first);
    plan.tokens.push_back(token);
  }
  for (const auto at : step.logits_at) {
    require(at >= 0 && at < count, "logits_at names one of the tokens", at);
    plan.wanted.push_back(first + at);
  }
  if (step.logits_at.empty()) {
    for (std::int64_t row = first; row < first + count; ++row) plan.wanted.push_back(row);
  }
}

}  // namespace

DecodePlan plan_decoding(std::span<const SequenceStep> sequences, const WhisperDims& dims, std::int64_t slots,
                         std::int64_t positions) {
  DecodePlan plan;
  for (const auto& step : sequences) {
    require(step.slot >= 0 && step.slot < slots, "slots are below the cache's number of slots", step.slot);
    add_sequence(plan, step, dims, positions);
  }
  require(!plan.tokens.empty(), "at least one sequence is given", 0);
  return plan;
}

namespace {

/// What the windows keep of one layer, per sequence.
std::vector<const CrossLayer*> windows_of(std::span<const SequenceStep> sequences, std::size_t layer) {
  std::vector<const CrossLayer*> windows;
  for (const auto& step : sequences) windows.push_back(&step.window->layers.at(layer));
  return windows;
}

}  // namespace

at::Tensor WhisperModel::decode(std::span<const SequenceStep> sequences, SelfKv& cache,
                                std::vector<at::Tensor>* queries) const {
  const c10::InferenceMode guard;
  const auto& net = weights_->net;
  const auto plan = plan_decoding(sequences, weights_->dims, cache.slots(), cache.positions());
  std::optional<StepThreads> threads;
  if (weights_->layout.own_kernels) threads.emplace(static_cast<std::int64_t>(plan.tokens.size()));
  auto x = ops::embed(net.tokens, net.text_positions, plan.tokens, plan.positions);
  const std::int64_t n = weights_->dims.n_text_state;
  for (std::size_t layer = 0; layer < net.decoder.size(); ++layer) {
    const auto& block = net.decoder[layer];
    const auto qkv = ops::norm_linear(x, block.attn_norm, block.attn.joined);
    ops::append(cache.keys[layer], qkv.narrow(1, n, n), plan.sequences);
    ops::append(cache.values[layer], qkv.narrow(1, 2 * n, n), plan.sequences);
    const auto self_attention_out =
        ops::slot_attention(qkv.narrow(1, 0, n), cache.keys[layer], cache.values[layer], plan.sequences);
    ops::add_linear(x, self_attention_out, block.attn.out);

    const auto query = ops::norm_linear(x, block.cross_norm, block.cross.query);
    if (queries) queries->push_back(query);
    const auto context = ops::cross_attention(query, windows_of(sequences, layer), plan.sequences);
    ops::add_linear(x, context, block.cross.out);

    ops::add_mlp(x, block.mlp_norm, block.mlp_in, block.mlp_out);
  }
  if (plan.wanted.size() < plan.tokens.size()) x = ops::select_rows(x, plan.wanted);
  return ops::logits(x, net.decoder_norm, net.output, net.tokens);
}

}  // namespace tutti
