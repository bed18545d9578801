#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace tutti {

/// Keys and values of one window in one decoder layer, in eight bits: a step reads all of them, so half the bytes is
/// half the wait. Every position of every head has a scale of its own. From the keys their mean over the positions is
/// taken off first, which no softmax feels; from the values too, and attention adds it to its result: a few dimensions
/// that are large everywhere would else leave the others nothing of the eight bits.
struct ByteKv {
  static constexpr std::int64_t kHeadSize = 64;  // in every Whisper model that OpenAI has published
  static constexpr std::int64_t kTogether = 16;  // positions are padded to so many

  std::int64_t positions = 0;
  at::Tensor keys{};          // uint8 [heads, padded / 16, 1024]: 128 more than the number, see byte_kv_job.h
  at::Tensor key_scales{};    // float32 [heads, padded]
  at::Tensor values{};        // int8 [heads, padded / 4, 256]: four positions side by side, see byte_kv_job.h
  at::Tensor value_scales{};  // float32 [heads, padded]
  at::Tensor value_means{};   // float32 [heads, 64]
};

/// both: keys and values side by side, [positions, 2 * heads * 64] float32, contiguous.
std::shared_ptr<const ByteKv> make_byte_kv(const at::Tensor& both, std::int64_t heads);

/// One query row over a window.
struct ByteRow {
  std::int64_t row = 0;  // row of q
  const ByteKv* kv = nullptr;
};

/// Needs AVX2, as everything here does. out[row] = softmax(q[row] keys^T / 8) values, all heads of all rows in one
/// parallel loop; q, out: [rows, heads * 64] float32, contiguous. Other rows of `out` are not written. A row's result
/// depends on the row and its window alone; neighbouring rows of one window, as beams are, share the reading of it.
/// Where a head's query holds what is no finite number, its result is no number.
void attend_byte_rows(const at::Tensor& q, const std::vector<ByteRow>& rows, at::Tensor& out);

/// The first `positions` keys less their mean, [heads, positions, 64] float32.
at::Tensor wide_keys(const ByteKv& kv, std::int64_t positions);
/// All values, [heads, positions, 64] float32.
at::Tensor wide_values(const ByteKv& kv);

}  // namespace tutti
