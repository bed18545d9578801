#include "model/ops.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/cpu/byte_kv.h"
#include "model/cpu/cpu_ops.h"
#include "model/decoder_step/byte_heads.h"
#include "model/decoder_step/byte_layout.h"
#include "model/torch_ops.h"

// Which of the two an operator is left to, and the operators that torch alone has.
namespace tutti::ops {
namespace {

/// Indices on the device of `like`, without waiting for the copy.
at::Tensor indices(std::span<const std::int64_t> values, const at::Tensor& like) {
  const auto count = static_cast<std::int64_t>(values.size());
  auto host = at::empty({count}, at::TensorOptions(at::kLong).pinned_memory(like.is_cuda()));
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<std::int64_t>());
  return host.to(like.device(), /*non_blocking=*/true);
}

/// both: [positions, 2 n] -> [2, heads, positions, n / heads] of the cache's type, in `out`.
void split_heads(const at::Tensor& both, std::int64_t heads, const at::Tensor& out) {
  constexpr std::int64_t kWide = 16;  // bytes, the most that a GPU's thread reads at once
  const auto copy = [heads](const at::Tensor& from, const at::Tensor& to) {
    to.copy_(from.view({from.size(0), 2, heads, from.size(1) / (2 * heads)}).permute({1, 2, 0, 3}));
  };
  const auto head_bytes = out.size(3) * static_cast<std::int64_t>(out.element_size());
  if (both.scalar_type() != out.scalar_type() || head_bytes % kWide != 0) return copy(both, out);
  copy(both.view(at::kComplexDouble), out.view(at::kComplexDouble));  // bytes are moved, nothing is computed
}

/// Whether a GPU's own layout in eight bits holds a window.
bool keeps_byte_heads(const Layout& layout, std::int64_t d_head) {
  return layout.byte_cross && !layout.own_kernels && d_head == kHeadSize;
}

at::Tensor first_keys(const CrossLayer& window, std::int64_t positions) {
  if (window.bytes) return wide_keys(*window.bytes, positions);
  if (window.heads) return wide_keys(*window.heads, positions);
  return window.keys.narrow(1, 0, positions);
}

}  // namespace

at::Tensor convolve(const at::Tensor& mel, const Conv& first, const Conv& second, const at::Tensor& positional) {
  if (first.packed) return cpu_ops::convolve(mel.squeeze(0), first, second, positional);
  return torch_ops::convolve(mel, first, second, positional);
}

at::Tensor layer_norm(const at::Tensor& x, const Norm& norm) {
  return (cpu_ops::can_attend(x) ? cpu_ops::layer_norm : torch_ops::layer_norm)(x, norm);
}

at::Tensor linear(const at::Tensor& x, const Linear& layer) {
  return layer.packed ? cpu_ops::linear(x, nullptr, layer) : torch_ops::linear(x, layer);
}

at::Tensor norm_linear(const at::Tensor& x, const Norm& norm, const Linear& layer) {
  return layer.packed ? cpu_ops::linear(x, &norm, layer) : torch_ops::linear(torch_ops::layer_norm(x, norm), layer);
}

void add_linear(at::Tensor& x, const at::Tensor& y, const Linear& layer) {
  if (layer.packed) return cpu_ops::add_linear(x, y, layer);
  x.add_(torch_ops::linear(y, layer));
}

void add_mlp(at::Tensor& x, const Norm& norm, const Linear& in, const Linear& out) {
  (in.packed ? cpu_ops::add_mlp : torch_ops::add_mlp)(x, norm, in, out);
}

at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, std::int64_t windows, at::ScalarType cache) {
  if (windows == 1 && cpu_ops::can_attend(qkv)) return cpu_ops::window_attention(qkv, heads, cache);
  return torch_ops::window_attention(qkv, heads, windows);
}

at::Tensor cross_memory(std::int64_t layers, std::int64_t heads, std::int64_t positions, std::int64_t d_head,
                        const Layout& layout, at::Device device) {
  if (layout.own_kernels) return {};
  const at::TensorOptions there(device);
  if (keeps_byte_heads(layout, d_head)) {
    return at::empty({layers, 2, heads, byte_head_size(positions)}, there.dtype(at::kChar));
  }
  return at::empty({layers, 2, heads, positions, d_head}, there.dtype(layout.cache));
}

CrossLayer keep_cross(const at::Tensor& both, std::int64_t heads, const Layout& layout, const at::Tensor& memory) {
  const auto d_head = both.size(1) / (2 * heads);
  if (layout.own_kernels && layout.byte_cross && d_head == ByteKv::kHeadSize) {
    return {.bytes = make_byte_kv(both, heads)};
  }
  if (keeps_byte_heads(layout, d_head)) return {.heads = make_byte_heads(both, heads, memory)};
  auto out = memory;
  if (!out.defined()) out = at::empty({2, heads, both.size(0), d_head}, both.options().dtype(layout.cache));
  split_heads(both, heads, out);
  return {.keys = out.select(0, 0), .values = out.select(0, 1)};
}

at::Tensor embed(const at::Tensor& embedding, const at::Tensor& positional, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions) {
  return at::index_select(positional, 0, indices(positions, positional))
      .add_(at::index_select(embedding, 0, indices(tokens, embedding)));
}

void append(at::Tensor& cache, const at::Tensor& k, std::span<const SlotRows> sequences) {
  torch_ops::append(cache, k, sequences);
}

at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences) {
  return (cpu_ops::can_attend(q) ? cpu_ops::slot_attention : torch_ops::slot_attention)(q, keys, values, sequences);
}

at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const SlotRows> sequences) {
  const bool own = cpu_ops::can_attend(q) && !windows.front()->heads;
  return (own ? cpu_ops::cross_attention : torch_ops::cross_attention)(q, windows, sequences);
}

at::Tensor attention_scores(const at::Tensor& q, const CrossLayer& window, std::int64_t positions,
                            std::span<const std::int64_t> chosen) {
  const auto keys = first_keys(window, positions);
  const auto heads = indices(chosen, keys);
  const auto scale = std::pow(static_cast<double>(keys.size(-1)), -0.25);
  const auto by_head = q.unflatten(1, {keys.size(0), keys.size(2)}).transpose(0, 1);
  const auto queries = by_head.index_select(0, heads).to(at::kFloat) * scale;
  const auto scaled_keys = keys.index_select(0, heads).to(at::kFloat) * scale;
  return at::matmul(queries, scaled_keys.transpose(1, 2));
}

at::Tensor select_rows(const at::Tensor& x, std::span<const std::int64_t> rows) {
  return at::index_select(x, 0, indices(rows, x));
}

at::Tensor logits(const at::Tensor& x, const Norm& norm, const Linear& embedding, const at::Tensor& table) {
  if (embedding.packed) return cpu_ops::logits(x, norm, embedding, table);
  return torch_ops::linear(torch_ops::layer_norm(x, norm), embedding).to(at::kFloat);
}

}  // namespace tutti::ops
