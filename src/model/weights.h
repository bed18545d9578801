#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/compute_type.h"
#include "model/formats/checkpoint.h"
#include "model/formats/dims.h"
#include "model/ops.h"

namespace tutti {

/// As read; prepare() joins what has the same input.
struct AttentionWeights {
  ops::Linear query{};
  ops::Linear key{};  // without bias
  ops::Linear value{};
  ops::Linear out{};
  /// Prepared: query, key and value of self-attention, key and value of cross-attention, one below the other.
  ops::Linear joined{};
};

/// A pre-norm block; an encoder's has no cross-attention.
struct BlockWeights {
  ops::Norm attn_norm{};
  AttentionWeights attn{};
  ops::Norm cross_norm{};
  AttentionWeights cross{};
  ops::Norm mlp_norm{};
  ops::Linear mlp_in{};
  ops::Linear mlp_out{};
};

struct WhisperWeights {
  ops::Conv conv1{};
  ops::Conv conv2{};
  at::Tensor audio_positions{};  // [n_audio_ctx, n_audio_state]
  std::vector<BlockWeights> encoder{};
  ops::Norm encoder_norm{};
  at::Tensor tokens{};          // [n_vocab, n_text_state]
  ops::Linear output{};         // prepared: the same as a layer
  at::Tensor text_positions{};  // [n_text_ctx, n_text_state]
  std::vector<BlockWeights> decoder{};
  ops::Norm decoder_norm{};
};

/// One tensor of a network: OpenAI's name, the shape it must have, and where it goes.
struct WeightSlot {
  std::string name{};
  std::vector<std::int64_t> shape{};
  at::Tensor* tensor = nullptr;
};

/// Every tensor of a Whisper network of that shape, once. Sizes the block lists of `weights`; the pointers go into it.
std::vector<WeightSlot> weight_slots(WhisperWeights& weights, const WhisperShape& shape);

/// One stored tensor on the CPU: a view of the mapping if its type and address allow (the tensor then keeps the
/// checkpoint alive), a copy else; quantised ones with their scales multiplied out, in float32.
at::Tensor stored_values(const StoredTensor& stored, const std::shared_ptr<const Checkpoint>& owner);

/// The network's tensors as they are stored: where aligned they stay where they are, mapped and shared with every other
/// process that maps the file (the tensor keeps the checkpoint alive).
Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint);

/// Returns to the system the pages of the files that were read so far: what `prepare` has read once would else count as
/// this process's. Tensors that are still mapped read theirs again, from the system's cache.
void release_read_pages(const Checkpoint& checkpoint);

/// Random float32 weights of that shape on `device`, by its generator of torch's (the CPU's and a GPU's draw different
/// numbers from one seed), scaled so that activations stay finite through any number of layers.
WhisperWeights random_weights(const WhisperShape& shape, at::Device device = at::kCPU);

/// Brings a network's weights, as they were read, into the form that `type` is computed in on `device`: layers that
/// share their input are joined, then packed for the CPU's kernels, scaled to int8 or converted. Only here is that
/// decided. What was read is released as soon as it is no longer needed; the token embedding stays as it was read where
/// only single rows of it are looked up.
void prepare(WhisperWeights& weights, ComputeType type, at::Device device);

}  // namespace tutti
