#include "model/cpu/cpu_ops.h"

#include <ATen/ATen.h>

#include <vector>

#include "base/instruction_sets.h"
#include "model/cpu/attention/attention.h"
#include "model/cpu/byte_kv.h"
#include "model/cpu/likeliest.h"
#include "model/cpu/matrix/block.h"
#include "model/cpu/matrix/product.h"
#include "model/cpu/one_row_attention.h"
#include "model/cpu/parallel.h"

namespace tutti::cpu_ops {
namespace {

using ops::SlotRows;

Rows rows_of(const at::Tensor& x) {
  return {x.const_data_ptr<float>(), x.stride(0), x.size(0)};
}

Output output_of(at::Tensor& y) {
  return {y.mutable_data_ptr<float>(), y.stride(0)};
}

Before normalised(const ops::Norm& norm) {
  return {norm.weight.const_data_ptr<float>(), norm.bias.const_data_ptr<float>()};
}

at::Tensor floats(std::int64_t rows, std::int64_t columns) {
  return at::empty({rows, columns}, at::TensorOptions(at::kFloat));
}

/// The precision of an attention's products.
WeightPrecision precision_of(at::ScalarType type) {
  return type == at::kBFloat16 && multiplies_bfloat16() ? WeightPrecision::bfloat16 : WeightPrecision::float32;
}

/// The precision of a whole window's products: with as many rows as keys it pays to bring these to whole numbers.
WeightPrecision window_precision_of(at::ScalarType type) {
  return type == at::kBFloat16 && !multiplies_bfloat16() ? WeightPrecision::int16 : precision_of(type);
}

/// Memory for positions with one of zeros at either end: then a convolution's input is three rows that overlap the
/// next.
at::Tensor padded_positions(std::int64_t positions, std::int64_t n) {
  auto x = floats(positions + 2, n);
  x.select(0, 0).zero_();
  x.select(0, positions + 1).zero_();
  return x;
}

// Rows of one sequence over a window in eight bits that are dearer together, when the window is widened for them.
constexpr std::int64_t kFewRows = 16;

/// Attention of a sequence's rows of q over keys and values, written to the same rows of out.
void attend_sequence(const at::Tensor& q, const SlotRows& sequence, AttentionJob job, at::Tensor& out) {
  job.q = q.narrow(0, sequence.first, sequence.count);
  job.precision = precision_of(job.keys.scalar_type());
  auto rows = out.narrow(0, sequence.first, sequence.count);
  attend(job, rows);
}

}  // namespace

bool can_attend(const at::Tensor& q) {
  return q.is_cpu() && q.scalar_type() == at::kFloat && usable_instructions().has(Instructions::avx2);
}

at::Tensor convolve(const at::Tensor& mel, const ops::Conv& first, const ops::Conv& second,
                    const at::Tensor& positional) {
  const auto frames = mel.size(1);
  const auto n = first.packed->out;
  auto input = padded_positions(frames, mel.size(0));
  input.narrow(0, 1, frames).copy_(mel.t());
  auto between = padded_positions(frames, n);
  auto convolved = between.narrow(0, 1, frames);
  product({input.const_data_ptr<float>(), mel.size(0), frames}, {}, *first.packed, {.gelu = true},
          output_of(convolved));
  auto x = floats((frames + 1) / 2, n);
  product({between.const_data_ptr<float>(), 2 * n, x.size(0)}, {}, *second.packed,
          {.gelu = true, .addend = positional.const_data_ptr<float>(), .stride = n}, output_of(x));
  return x;
}

at::Tensor layer_norm(const at::Tensor& x, const ops::Norm& norm) {
  constexpr std::int64_t together = 16;
  auto y = at::empty_like(x);
  const auto n = x.size(1);
  const auto before = normalised(norm);
  for_each_unit((x.size(0) + together - 1) / together, [&](std::int64_t unit) {
    const auto first = unit * together;
    std::vector<float> scratch(static_cast<std::size_t>(n));
    kernels(WeightPrecision::float32)
        .prepare({.x = x.const_data_ptr<float>() + first * n,
                  .stride = n,
                  .rows = std::min(together, x.size(0) - first),
                  .in = n,
                  .norm_weight = before.norm_weight,
                  .norm_bias = before.norm_bias,
                  .scratch = scratch.data(),
                  .out = reinterpret_cast<std::byte*>(y.mutable_data_ptr<float>() + first * n),
                  .out_stride = n * 4,
                  .groups = n});
  });
  return y;
}

at::Tensor linear(const at::Tensor& x, const ops::Norm* norm, const ops::Linear& layer) {
  auto y = floats(x.size(0), layer.packed->out);
  product(rows_of(x), norm ? normalised(*norm) : Before{}, *layer.packed, {}, output_of(y));
  return y;
}

at::Tensor logits(const at::Tensor& x, const ops::Norm& norm, const ops::Linear& embedding, const at::Tensor& table) {
  auto values = linear(x, &norm, embedding);
  if (embedding.packed->precision == WeightPrecision::int8)
    compute_likeliest(values, cpu_ops::layer_norm(x, norm), table);
  return values;
}

void add_linear(at::Tensor& x, const at::Tensor& y, const ops::Linear& layer) {
  product(rows_of(y), {}, *layer.packed, {.addend = x.const_data_ptr<float>(), .stride = x.stride(0)}, output_of(x));
}

void add_mlp(at::Tensor& x, const ops::Norm& norm, const ops::Linear& in, const ops::Linear& out) {
  add_two_layers(x.mutable_data_ptr<float>(), x.size(0), normalised(norm), *in.packed, *out.packed);
}

at::Tensor window_attention(const at::Tensor& qkv, std::int64_t heads, at::ScalarType type) {
  const auto n = qkv.size(1) / 3;
  const auto by_head = qkv.view({qkv.size(0), 3, heads, n / heads}).permute({1, 2, 0, 3});
  auto out = floats(qkv.size(0), n);
  attend({.q = qkv.narrow(1, 0, n),
          .keys = by_head[1],
          .values = by_head[2],
          .visible = qkv.size(0),
          .precision = window_precision_of(type)},
         out);
  return out;
}

at::Tensor slot_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                          std::span<const SlotRows> sequences) {
  auto out = floats(q.size(0), q.size(1));
  std::vector<RowAttention> single;
  for (const auto& sequence : sequences) {
    const auto length = sequence.position + sequence.count;
    const auto slot_keys = keys.select(0, sequence.slot);
    const auto slot_values = values.select(0, sequence.slot);
    if (sequence.count == 1 && is_row_attention(q, slot_keys)) {
      single.push_back({sequence.first, slot_keys, slot_values, length});
    } else {
      attend_sequence(q, sequence,
                      {.keys = slot_keys.narrow(1, 0, length),
                       .values = slot_values.narrow(1, 0, length),
                       .visible = sequence.position + 1,
                       .visible_step = 1},
                      out);
    }
  }
  attend_rows(q, single, out);
  return out;
}

at::Tensor cross_attention(const at::Tensor& q, std::span<const CrossLayer* const> windows,
                           std::span<const SlotRows> sequences) {
  auto out = floats(q.size(0), q.size(1));
  std::vector<RowAttention> single;
  std::vector<ByteRow> of_bytes;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto& [keys, values, bytes, heads_of_a_gpu] = *windows[i];
    const auto first = sequences[i].first, count = sequences[i].count;
    if (bytes && count <= kFewRows) {
      for (auto row = first; row < first + count; ++row) of_bytes.push_back({row, bytes.get()});
    } else if (bytes) {
      const auto wide = wide_values(*bytes).to(at::kBFloat16);
      attend_sequence(
          q, sequences[i],
          {.keys = wide_keys(*bytes, bytes->positions).to(at::kBFloat16), .values = wide, .visible = bytes->positions},
          out);
    } else if (count == 1 && is_row_attention(q, keys)) {
      single.push_back({first, keys, values, keys.size(1)});
    } else {
      attend_sequence(q, sequences[i], {.keys = keys, .values = values, .visible = keys.size(1)}, out);
    }
  }
  attend_rows(q, single, out);
  attend_byte_rows(q, of_bytes, out);
  return out;
}

}  // namespace tutti::cpu_ops
