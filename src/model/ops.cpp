#include "model/ops.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/cpu/byte_kv.h"
#include "model/cpu/cpu_ops.h"
#include "model/decoder_step/byte_heads.h"
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

/// x: [positions, n], rows may lie apart -> [heads, positions, n / heads] of the cache's type.
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads, at::ScalarType cache) {
  auto out = at::empty({heads, x.size(0), x.size(1) / heads}, x.options().dtype(cache));
  out.copy_(x.unflatten(1, {heads, x.size(1) / heads}).transpose(0, 1));
  return out;
}

at::Tensor first_keys(const CrossLayer& window, std::int64_t positions) {
  if (window.bytes) return wide_keys(*window.bytes, positions);
  if (window.heads) return wide_keys(*window.heads, positions);
  return window.keys.narrow(1, 0, positions);
}

}  // namespace

at::Tensor convolve(const at::Tensor& mel, const Conv& first, const Conv& second, const at::Tensor& positional) {
  return (first.packed ? cpu_ops::convolve : torch_ops::convolve)(mel, first, second, positional);
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

at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, at::ScalarType cache) {
  if (cpu_ops::can_attend(qkv)) return cpu_ops::window_attention(qkv, heads, cache);
  return torch_ops::window_attention(qkv, heads);
}

CrossLayer keep_cross(const at::Tensor& both, std::int64_t heads, const Layout& layout) {
  const auto n = both.size(1) / 2;
  if (layout.byte_cross && n / heads == ByteKv::kHeadSize) {
    if (layout.own_kernels) return {.bytes = make_byte_kv(both, heads)};
    return {.heads = make_byte_heads(both, heads)};
  }
  return {.keys = split_heads(both.narrow(1, 0, n), heads, layout.cache),
          .values = split_heads(both.narrow(1, n, n), heads, layout.cache)};
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
  const auto asking = by_head.index_select(0, heads).to(at::kFloat) * scale;
  const auto scaled_keys = keys.index_select(0, heads).to(at::kFloat) * scale;
  return at::matmul(asking, scaled_keys.transpose(1, 2));
}

at::Tensor select_rows(const at::Tensor& x, std::span<const std::int64_t> rows) {
  return at::index_select(x, 0, indices(rows, x));
}

at::Tensor logits(const at::Tensor& x, const Norm& norm, const Linear& embedding, const at::Tensor& table) {
  if (embedding.packed) return cpu_ops::logits(x, norm, embedding, table);
  return torch_ops::linear(torch_ops::layer_norm(x, norm), embedding).to(at::kFloat);
}

}  // namespace tutti::ops
