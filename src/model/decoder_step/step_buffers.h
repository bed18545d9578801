#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/formats/dims.h"

namespace tutti {

/// Rows of an integer product of so many: their high halves, their low halves. A GPU wants more than sixteen, and likes
/// multiples of eight (cuBLASLt).
std::int64_t whole_rows(std::int64_t rows);

/// Units that a row's head is divided into, so that a device's processors have work: a short batch has few heads. Fixed
/// for a bucket, so that a row comes out the same whatever its neighbours. together: rows that a unit takes, as a rule.
std::int32_t splits_of(std::int64_t rows, std::int64_t heads, std::int32_t processors, std::int32_t together = 1);

/// The memory that a static step works on, allocated once for its largest bucket. Flat, but for the first two.
struct StepBuffers {
  at::Tensor logits{};  // float32 [rows, n_vocab]
  at::Tensor x{};       // [rows, n] of the activations' type T
  at::Tensor input{};   // T, of the next product, or the output of attention
  at::Tensor sums{};    // T, of the last product
  at::Tensor qkv{};     // T
  at::Tensor cross_query{};
  at::Tensor whole_input{};  // int8, of the next product where its layer is
  at::Tensor whole_sums{};   // int32
  at::Tensor row_scales{};   // float32
  at::Tensor partials{};     // float32: attention's, where heads are split
  at::Tensor raw_logits{};   // T
  at::Tensor inputs{};       // bytes
  at::Tensor host{};         // bytes that become `inputs`; pinned for a GPU
};

/// For steps of at most `rows` rows, on the device and in the type of `activations`; `processors`: as in splits_of, of
/// which no unit takes more than kMostSharedRows together.
StepBuffers make_step_buffers(const WhisperDims& dims, std::int64_t rows, const at::TensorOptions& activations,
                              std::int32_t processors);

}  // namespace tutti
