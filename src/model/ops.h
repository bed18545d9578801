#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "model/compute_type.h"

namespace tutti {

struct ByteHeads;
struct ByteKv;

/// What one decoder layer keeps of a window for its cross-attention: keys and values of all heads.
struct CrossLayer {
  at::Tensor keys{};    // [heads, positions, d_head] in the model's cache type; undefined where eight bits hold them
  at::Tensor values{};  // as keys
  std::shared_ptr<const ByteKv> bytes{};     // both in eight bits, as the CPU's kernels want them
  std::shared_ptr<const ByteHeads> heads{};  // or as a GPU's do (model/decoder_step)
};

struct PackedMatrix;

/// The operators of the hot path: all that Whisper's arithmetic needs of a tensor library. The network (whisper.cpp)
/// calls nothing else, so that each can be replaced alone: torch_ops.cpp has them for every device, cpu_ops.cpp once
/// more for CPUs, and a layer's form (`prepare`, model/weights.h) decides which it is for. Activations of one call
/// share dtype and device; a result is contiguous unless noted otherwise. Callers hold a c10::InferenceMode guard.
/// Enqueues only.
namespace ops {

/// y = x weight^T + bias.
struct Linear {
  at::Tensor weight{};  // [out, in]; int8 where there is a scale
  at::Tensor bias{};    // [out], or undefined for none
  at::Tensor scale{};   // [out], of int8 weights
  /// All of it once more as the CPU's kernels want it; then the tensors are gone.
  std::shared_ptr<const PackedMatrix> packed{};
};

struct Norm {
  at::Tensor weight{};  // [n]
  at::Tensor bias{};    // [n]
};

/// Three taps, one position of zero padding at either end.
struct Conv {
  at::Tensor weight{};                           // [out, in, 3]
  at::Tensor bias{};                             // [out]
  std::shared_ptr<const PackedMatrix> packed{};  // [out, 3 * in], tap by tap; as in Linear
};

/// Consecutive rows of a decoder call that belong to one sequence.
struct SlotRows {
  std::int64_t slot = 0;      // row of the KV cache
  std::int64_t position = 0;  // tokens the slot held before
  std::int64_t first = 0;     // first row in the call
  std::int64_t count = 0;     // one in a step, the whole prompt in a prefill
};

/// mel: [windows, in, frames] -> gelu(second(gelu(first(mel))))^T + positional, [windows * frames / 2, n]. The second
/// has a stride of two. Packed layers take one window.
at::Tensor convolve(const at::Tensor& mel, const Conv& first, const Conv& second, const at::Tensor& positional);

/// x: [rows, n] -> [rows, n]; epsilon 1e-5, statistics in float32.
at::Tensor layer_norm(const at::Tensor& x, const Norm& norm);

/// x: [rows, in] -> [rows, out].
at::Tensor linear(const at::Tensor& x, const Linear& layer);

/// linear(layer_norm(x)).
at::Tensor norm_linear(const at::Tensor& x, const Norm& norm, const Linear& layer);

/// x += linear(y).
void add_linear(at::Tensor& x, const at::Tensor& y, const Linear& layer);

/// x += out(gelu(in(layer_norm(x)))), with the exact (erf) form of GELU.
void add_mlp(at::Tensor& x, const Norm& norm, const Linear& in, const Linear& out);

/// Every position sees every other of its window. qkv: queries, keys and values side by side, [windows * positions, 3
/// n]
/// -> [windows * positions, n]. Scaled by 1 / sqrt(n / heads). cache: what keys and values may be rounded to.
at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, std::int64_t windows, at::ScalarType cache);

/// Memory for all that keep_cross writes of one window, [layers, ...]; undefined where that is the CPU's kernels' own.
/// In one piece: an allocator that rounds up then wastes next to nothing.
at::Tensor cross_memory(std::int64_t layers, std::int64_t heads, std::int64_t positions, std::int64_t d_head,
                        const Layout& layout, at::Device device);

/// Brings a window's keys and values side by side, [positions, 2 n], into the form that `layout` keeps them in.
/// memory: a layer's part of cross_memory; undefined for memory of their own.
CrossLayer keep_cross(const at::Tensor& both, std::int64_t heads, const Layout& layout, const at::Tensor& memory = {});

/// Row r: tokens[r] of the embedding plus positions[r] of the positional table, in the table's type.
at::Tensor embed(const at::Tensor& embedding, const at::Tensor& positional, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions);

/// Writes the rows of k, [rows, n] which may lie apart, behind what each slot holds. cache: [slots, heads, positions,
/// n / heads].
void append(at::Tensor& cache, const at::Tensor& k, std::span<const SlotRows> sequences);

/// Causal attention of every row over its own slot, its own row included. q: [rows, n], rows may lie apart -> [rows,
/// n].
at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences);

/// Attention of every row over its sequence's window: windows[i] belongs to sequences[i]. q: [rows, n] -> [rows, n].
at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const SlotRows> sequences);

/// How strongly rows look at a window's first positions, before the softmax: of each named head q k^T / sqrt(n /
/// heads), give or take a number for each row, which no softmax feels. q: [rows, n] -> [chosen, rows, positions]
/// float32.
at::Tensor attention_scores(const at::Tensor& q, const CrossLayer& window, std::int64_t positions,
                            std::span<const std::int64_t> chosen);

/// The named rows of x, in that order.
at::Tensor select_rows(const at::Tensor& x, std::span<const std::int64_t> rows);

/// linear(layer_norm(x)) in float32: [rows, vocab]. Where `embedding` is packed as int8, the likeliest of every row are
/// computed once more in float32 from `table`, the embedding as it was stored, [vocab, n].
at::Tensor logits(const at::Tensor& x, const Norm& norm, const Linear& embedding, const at::Tensor& table);

}  // namespace ops

}  // namespace tutti
