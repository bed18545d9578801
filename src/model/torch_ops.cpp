#include "model/torch_ops.h"

#include <ATen/ATen.h>

#include <optional>

#include "model/decoder_step/byte_heads.h"

namespace tutti::torch_ops {
namespace {

using ops::SlotRows;

/// [rows, n] seen as [1, heads, rows, n / heads].
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.view({1, x.size(0), heads, x.size(1) / heads}).transpose(1, 2);
}

/// cuDNN would plan again for every length it has not seen, which takes longer than many a prompt. One thread.
class WithoutCudnnPlans {
 public:
  WithoutCudnnPlans() { at::globalContext().setSDPUseCuDNN(false); }
  WithoutCudnnPlans(const WithoutCudnnPlans&) = delete;
  ~WithoutCudnnPlans() { at::globalContext().setSDPUseCuDNN(before_); }

 private:
  bool before_ = at::globalContext().userEnabledCuDNNSDP();
};

/// Attention of one sequence's rows. q: [rows, n]; keys, values: [heads, length, n / heads] -> [rows, n].
at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                  const std::optional<at::Tensor>& mask, bool causal) {
  const WithoutCudnnPlans lengths_vary;
  const auto out = at::scaled_dot_product_attention(by_head(q, keys.size(0)), keys.unsqueeze(0), values.unsqueeze(0),
                                                    mask, /*dropout_p=*/0.0, causal);
  return out.transpose(1, 2).reshape(q.sizes());
}

/// Row i of `rows` sees the first position + i + 1 of position + rows entries.
at::Tensor prefix_mask(const SlotRows& sequence, const at::Tensor& like) {
  return at::ones({sequence.count, sequence.position + sequence.count}, like.options().dtype(at::kBool))
      .tril_(sequence.position);
}

at::Tensor conv_gelu(const at::Tensor& x, const ops::Conv& conv, std::int64_t stride) {
  auto y = at::conv1d(x, conv.weight, conv.bias, stride, /*padding=*/1);
  at::gelu_(y);
  return y;
}

/// Integer products of a GPU want more than sixteen rows and widths of eight (cuBLASLt).
constexpr std::int64_t kFewestRows = 17;

/// x weight^T with x scaled per row to sixteen bits, so that no row feels another. A number of sixteen bits is two of
/// eight, and a row two rows of the product: where a step waits for its weights they cost nothing, and eight bits alone
/// change tokens (docs/compute-types.md).
at::Tensor scaled_linear(const at::Tensor& x, const ops::Linear& layer) {
  constexpr double kHigh = 128;
  const auto rows = x.size(0);
  const auto wide = x.to(at::kFloat);
  const auto scale = wide.abs().amax(1, /*keepdim=*/true).div_(127 * kHigh).clamp_min_(1e-12);
  const auto number = at::round(wide / scale), high = at::round(number / kHigh);
  auto halves = at::cat({high, number - high * kHigh}).to(at::kChar);
  const auto missing = kFewestRows - 2 * rows;
  if (missing > 0) halves = at::constant_pad_nd(halves, {0, 0, 0, missing});
  const auto sums = at::_int_mm(halves, layer.weight.t()).to(at::kFloat);
  auto y = sums.narrow(0, 0, rows).mul(kHigh).add_(sums.narrow(0, rows, rows)).mul_(scale).mul_(layer.scale);
  if (layer.bias.defined()) y.add_(layer.bias);
  return y.to(x.scalar_type());
}

}  // namespace

at::Tensor convolve(const at::Tensor& mel, const ops::Conv& first, const ops::Conv& second,
                    const at::Tensor& positional) {
  const auto convolved = conv_gelu(conv_gelu(mel, first, 1), second, 2);
  return at::add(positional, convolved.transpose(1, 2)).contiguous().flatten(0, 1);
}

at::Tensor layer_norm(const at::Tensor& x, const ops::Norm& norm) {
  return at::layer_norm(x, norm.weight.sizes(), norm.weight, norm.bias);
}

at::Tensor linear(const at::Tensor& x, const ops::Linear& layer) {
  return layer.scale.defined() ? scaled_linear(x, layer) : at::linear(x, layer.weight, layer.bias);
}

void add_mlp(at::Tensor& x, const ops::Norm& norm, const ops::Linear& in, const ops::Linear& out) {
  auto y = torch_ops::linear(torch_ops::layer_norm(x, norm), in);
  at::gelu_(y);
  x.add_(torch_ops::linear(y, out));
}

at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, std::int64_t windows) {
  const auto n = qkv.size(1) / 3;
  const auto part = [&](std::int64_t i) {
    return qkv.view({windows, qkv.size(0) / windows, 3, heads, n / heads}).select(2, i).transpose(1, 2);
  };
  const auto out = at::scaled_dot_product_attention(part(0), part(1), part(2));
  return out.transpose(1, 2).reshape({qkv.size(0), n});
}

void append(at::Tensor& cache, const at::Tensor& k, std::span<const SlotRows> sequences) {
  const auto heads = cache.size(1);
  const auto rows = k.unflatten(1, {heads, k.size(1) / heads}).transpose(0, 1);
  for (const auto& sequence : sequences) {
    cache.select(0, sequence.slot)
        .narrow(1, sequence.position, sequence.count)
        .copy_(rows.narrow(1, sequence.first, sequence.count));
  }
}

at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences) {
  const auto queries = q.contiguous();
  auto out = at::empty_like(queries);
  for (const auto& sequence : sequences) {
    const auto length = sequence.position + sequence.count;
    const bool many = sequence.count > 1;
    // scaled_dot_product_attention's own causal mask starts at the first key, so it only fits an empty slot.
    const bool causal = many && sequence.position == 0;
    std::optional<at::Tensor> mask;
    if (many && !causal) mask = prefix_mask(sequence, q);
    out.narrow(0, sequence.first, sequence.count)
        .copy_(attend(queries.narrow(0, sequence.first, sequence.count),
                      keys.select(0, sequence.slot).narrow(1, 0, length),
                      values.select(0, sequence.slot).narrow(1, 0, length), mask, causal));
  }
  return out;
}

at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const SlotRows> sequences) {
  auto out = at::empty_like(q);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto& sequence = sequences[i];
    const auto& [keys, values, bytes, heads] = *windows[i];
    const auto queries = q.narrow(0, sequence.first, sequence.count);
    const auto wide = [&](const at::Tensor& numbers) { return numbers.to(q.scalar_type()); };
    out.narrow(0, sequence.first, sequence.count)
        .copy_(heads ? attend(queries, wide(wide_keys(*heads, heads->positions)), wide(wide_values(*heads)),
                              std::nullopt, false)
                     : attend(queries, keys, values, std::nullopt, false));
  }
  return out;
}

}  // namespace tutti::torch_ops
