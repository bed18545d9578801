#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/compute_type.h"
#include "model/formats/dims.h"
#include "model/ops.h"

namespace tutti {

struct WhisperWeights;

/// Cross-attention keys and values of one window, computed once and shared by every decoding of it, on the model's
/// device: per decoder layer those of n_text_head heads and the window's positions.
struct CrossKv {
  std::vector<CrossLayer> layers{};
};

/// Self-attention keys and values of `slots` sequences, allocated once: per decoder layer [slots, n_text_head,
/// positions, d_head]. A slot's sequence is as long as its position; nothing is ever moved.
struct SelfKv {
  at::Tensor whole{};  // all of it: [2 * layers, slots, ...], a layer's keys before its values
  std::vector<at::Tensor> keys{};
  std::vector<at::Tensor> values{};

  std::int64_t slots() const { return keys.empty() ? 0 : keys.front().size(0); }
  /// Tokens that a slot holds.
  std::int64_t positions() const { return keys.empty() ? 0 : keys.front().size(2); }
};

/// One sequence's part in a decoder call.
struct SequenceStep {
  std::int32_t slot = 0;                   // row of SelfKv
  std::int32_t position = 0;               // tokens already in the slot
  std::span<const std::int32_t> tokens{};  // appended now: one in a step, the whole prompt in a prefill
  const CrossKv* window = nullptr;
  /// Which of `tokens` (by index, ascending) get logits; empty: all of them. A prefill needs sot and the last alone.
  std::span<const std::int32_t> logits_at{};
};

/// A Whisper network with its weights on one device. Immutable after loading; calls come from one thread at a time.
/// Every tensor it returns is an inference tensor: work on it in place only under c10::InferenceMode.
class WhisperModel {
 public:
  /// From a folder of Hugging Face's or CTranslate2's, an OpenAI .pt or a ggml file. Errors name the tensor, the shape
  /// expected and the shape found.
  static Result<WhisperModel> load(const std::filesystem::path& path, at::Device device, ComputeType type);
  /// The same network with random weights, for speed measurements. drawn_on: whose generator draws them. The CPU's
  /// draws the same on every machine; a GPU draws large-v3 in a second instead of minutes.
  static WhisperModel random(const WhisperDims& dims, at::Device device, ComputeType type,
                             at::Device drawn_on = at::kCPU);
  /// A network over weights in memory, which it may share; they must not change while it is there. float32, of that
  /// shape.
  static WhisperModel over(WhisperWeights weights, const WhisperDims& dims, at::Device device, ComputeType type);

  WhisperModel(WhisperModel&&) noexcept;
  WhisperModel& operator=(WhisperModel&&) noexcept;
  ~WhisperModel();

  const WhisperDims& dims() const;
  at::Device device() const;
  ComputeType type() const;

  /// Brings windows to the model's device, in the type that it computes in. mels: [.., n_mels, frames], of any type, on
  /// the CPU or there already. Enqueues only.
  at::Tensor upload(const at::Tensor& mels) const;
  /// mels: [n_mels, 2 * positions], or of several windows [n, n_mels, 2 * positions]; float32 on the CPU, or as
  /// `upload` returns them -> [n * positions, n_audio_state] on the model's device. positions: n_audio_ctx; fewer
  /// compute less, and the text of such a window is worse towards its end. Enqueues only.
  at::Tensor encode(const at::Tensor& mels) const;
  /// encoded: what `encode` returned for one window. Enqueues only.
  CrossKv cross_kv(const at::Tensor& encoded) const;
  /// encoded: what `encode` returned for so many windows; one CrossKv for each, each with memory of its own. Enqueues
  /// only.
  std::vector<CrossKv> cross_kvs(const at::Tensor& encoded, std::int64_t windows) const;
  /// Memory for so many sequences on the model's device, in the type that it keeps keys and values in; not filled.
  /// positions: tokens of each, at most n_text_ctx; 0: so many.
  SelfKv make_self_kv(std::int32_t slots, std::int32_t positions = 0) const;

  /// Appends every sequence's tokens to its slot and returns the requested logits, concatenated in the order of
  /// `sequences`: [rows, n_vocab] float32 on the model's device. Linear layers run on all rows at once, attention on
  /// each sequence alone: a neighbour changes nothing but the speed. Two sequences of one call never share a slot.
  /// Throws std::invalid_argument where a slot, position, token or logits_at is out of range. Enqueues only.
  /// `queries`, where given, gets the queries of each layer's cross-attention: [rows, n_text_state], one row per
  /// token.
  at::Tensor decode(std::span<const SequenceStep> sequences, SelfKv& cache,
                    std::vector<at::Tensor>* queries = nullptr) const;

 private:
  friend class StaticStep;  // the same decoder in fixed shapes
  struct Weights;
  explicit WhisperModel(std::unique_ptr<Weights> weights);
  std::unique_ptr<Weights> weights_;
};

}  // namespace tutti
