#include <ATen/ATen.h>

#include <cmath>
#include <vector>

#include "model/cpu/few_rows.h"
#include "model/cpu/one_row_attention.h"
#include "model/ops.h"

// The operators by torch, on whatever device the tensors are; a decoder step on the CPU has kernels of its own.
namespace tutti::ops {
namespace {

/// [rows, n] seen as [1, heads, rows, n / heads].
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.view({1, x.size(0), heads, x.size(1) / heads}).transpose(1, 2);
}

/// Indices on the device of `like`, without waiting for the copy.
at::Tensor indices(std::span<const std::int64_t> values, const at::Tensor& like) {
  const auto count = static_cast<std::int64_t>(values.size());
  auto host = at::empty({count}, at::TensorOptions(at::kLong).pinned_memory(like.is_cuda()));
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<std::int64_t>());
  return host.to(like.device(), /*non_blocking=*/true);
}

/// Attention of one sequence's rows. q: [rows, n]; keys, values: [heads, length, n / heads] -> [rows, n].
at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                  const std::optional<at::Tensor>& mask, bool causal) {
  const auto out = at::scaled_dot_product_attention(by_head(q, keys.size(0)), keys.unsqueeze(0), values.unsqueeze(0),
                                                    mask, /*dropout_p=*/0.0, causal);
  return out.transpose(1, 2).reshape(q.sizes());
}

/// Row i of `rows` sees the first position + i + 1 of position + rows entries.
at::Tensor prefix_mask(const SlotRows& sequence, const at::Tensor& like) {
  return at::ones({sequence.count, sequence.position + sequence.count}, like.options().dtype(at::kBool))
      .tril_(sequence.position);
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const Linear& layer) {
  if (!is_few_rows(x, layer.weight)) return at::linear(x, layer.weight, layer.bias);
  auto y = few_rows(x, layer.weight);
  if (layer.bias.defined()) y.add_(layer.bias);
  return y.to(x.scalar_type());
}

void add(at::Tensor& x, const at::Tensor& y) {
  x.add_(y);
}

at::Tensor layer_norm(const at::Tensor& x, const Norm& norm) {
  return at::layer_norm(x, norm.weight.sizes(), norm.weight, norm.bias);
}

at::Tensor linear_gelu(const at::Tensor& x, const Linear& layer) {
  auto y = linear(x, layer);
  at::gelu_(y);
  return y;
}

at::Tensor conv_gelu(const at::Tensor& x, const Conv& conv, std::int64_t stride) {
  auto y = at::conv1d(x.unsqueeze(0), conv.weight, conv.bias, stride, /*padding=*/1).squeeze(0);
  at::gelu_(y);
  return y;
}

at::Tensor transpose_and_add(const at::Tensor& x, const at::Tensor& positional) {
  return at::add(positional, x.transpose(0, 1)).contiguous();
}

at::Tensor window_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads) {
  const auto out = at::scaled_dot_product_attention(by_head(q, heads), by_head(k, heads), by_head(v, heads));
  return out.transpose(1, 2).reshape(q.sizes());
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), heads, x.size(1) / heads}).transpose(0, 1).contiguous();
}

at::Tensor embed(const at::Tensor& embedding, const at::Tensor& positional, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions) {
  return at::index_select(embedding, 0, indices(tokens, embedding))
      .add_(at::index_select(positional, 0, indices(positions, positional)));
}

void append(at::Tensor& cache, const at::Tensor& k, std::span<const SlotRows> sequences) {
  const auto heads = cache.size(1);
  const auto rows = k.view({k.size(0), heads, k.size(1) / heads}).transpose(0, 1);
  for (const auto& sequence : sequences) {
    cache.select(0, sequence.slot)
        .narrow(1, sequence.position, sequence.count)
        .copy_(rows.narrow(1, sequence.first, sequence.count));
  }
}

at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences) {
  auto out = at::empty_like(q);
  std::vector<RowAttention> single;
  for (const auto& sequence : sequences) {
    const auto slot_keys = keys.select(0, sequence.slot);
    const auto slot_values = values.select(0, sequence.slot);
    const auto length = sequence.position + sequence.count;
    const bool many = sequence.count > 1;
    if (!many && is_row_attention(q, slot_keys)) {
      single.push_back({sequence.first, slot_keys, slot_values, length});
      continue;
    }
    // scaled_dot_product_attention's own causal mask starts at the first key, so it only fits an empty slot.
    const bool causal = many && sequence.position == 0;
    std::optional<at::Tensor> mask;
    if (many && !causal) mask = prefix_mask(sequence, q);
    out.narrow(0, sequence.first, sequence.count)
        .copy_(attend(q.narrow(0, sequence.first, sequence.count), slot_keys.narrow(1, 0, length),
                      slot_values.narrow(1, 0, length), mask, causal));
  }
  if (!single.empty()) attend_rows(q, single, out);
  return out;
}

at::Tensor cross_attention(const at::Tensor& q, std::span<const at::Tensor> keys, std::span<const at::Tensor> values,
                           std::span<const SlotRows> sequences) {
  auto out = at::empty_like(q);
  std::vector<RowAttention> single;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto& sequence = sequences[i];
    if (sequence.count == 1 && is_row_attention(q, keys[i])) {
      single.push_back({sequence.first, keys[i], values[i], keys[i].size(1)});
      continue;
    }
    out.narrow(0, sequence.first, sequence.count)
        .copy_(attend(q.narrow(0, sequence.first, sequence.count), keys[i], values[i], std::nullopt, false));
  }
  if (!single.empty()) attend_rows(q, single, out);
  return out;
}

at::Tensor attention_scores(const at::Tensor& q, const at::Tensor& keys, std::span<const std::int64_t> chosen) {
  const auto heads = indices(chosen, keys);
  const auto scale = std::pow(static_cast<double>(keys.size(-1)), -0.25);
  const auto asking = by_head(q, keys.size(0)).squeeze(0).index_select(0, heads).to(at::kFloat) * scale;
  const auto asked = keys.index_select(0, heads).to(at::kFloat) * scale;
  return at::matmul(asking, asked.transpose(1, 2));
}

at::Tensor select_rows(const at::Tensor& x, std::span<const std::int64_t> rows) {
  return at::index_select(x, 0, indices(rows, x));
}

at::Tensor logits(const at::Tensor& x, const at::Tensor& embedding) {
  return is_few_rows(x, embedding) ? few_rows(x, embedding) : at::linear(x, embedding).to(at::kFloat);
}

}  // namespace tutti::ops
