#include "model/cpu/byte_kv.h"

#include <ATen/ATen.h>

#include "base/instruction_sets.h"
#include "base/numbers.h"
#include "model/cpu/byte_kv_job.h"
#include "model/cpu/parallel.h"

namespace tutti {
namespace {

constexpr auto kHeadSize = ByteKv::kHeadSize;

at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type) {
  return at::empty(sizes, at::TensorOptions(type));
}

/// How the values of four positions lie (byte_kv_job.h), as a shape.
at::Tensor in_order(const at::Tensor& values) {
  const auto heads = values.size(0), quads = values.size(1);
  return values.view({heads, quads, 4, 4, 4, 4}).permute({0, 1, 5, 3, 2, 4}).reshape({heads, 4 * quads, kHeadSize});
}

/// Likewise of sixteen positions' keys.
at::Tensor keys_in_order(const at::Tensor& keys) {
  const auto heads = keys.size(0), blocks = keys.size(1);
  return keys.view({heads, blocks, 16, 16, 4}).permute({0, 1, 3, 2, 4}).reshape({heads, 16 * blocks, kHeadSize});
}

std::int64_t padded_positions(const ByteKv& kv) {
  return kv.key_scales.size(1);
}

/// Rows that follow one another over the same window.
struct BeamGroup {
  std::int64_t first = 0;
  std::int64_t count = 0;
  const ByteKv* kv = nullptr;
};

/// So many that every thread finds two jobs, if that leaves any together.
std::int64_t rows_together(std::int64_t rows, std::int64_t heads) {
  const auto shares = rows * heads / (2 * loop_threads());
  return std::clamp<std::int64_t>(shares, 1, ByteAttentionJob::kMostRows);
}

std::vector<BeamGroup> beam_groups(const std::vector<ByteRow>& rows, std::int64_t most) {
  std::vector<BeamGroup> all;
  for (const auto& [row, kv] : rows) {
    const bool next =
        !all.empty() && all.back().kv == kv && all.back().first + all.back().count == row && all.back().count < most;
    if (next) {
      ++all.back().count;
    } else {
      all.push_back({row, 1, kv});
    }
  }
  return all;
}

ByteAttentionJob job_of(const at::Tensor& q, const BeamGroup& rows, std::int64_t head, at::Tensor& out) {
  const auto& kv = *rows.kv;
  const auto padded = padded_positions(kv);
  const auto at = rows.first * q.size(1) + head * kHeadSize;
  return {.q = q.const_data_ptr<float>() + at,
          .keys = kv.keys.const_data_ptr<std::uint8_t>() + head * padded * kHeadSize,
          .key_scales = kv.key_scales.const_data_ptr<float>() + head * padded,
          .values = kv.values.const_data_ptr<std::int8_t>() + head * padded * kHeadSize,
          .value_scales = kv.value_scales.const_data_ptr<float>() + head * padded,
          .value_mean = kv.value_means.const_data_ptr<float>() + head * kHeadSize,
          .out = out.mutable_data_ptr<float>() + at,
          .rows = rows.count,
          .stride = q.size(1),
          .positions = kv.positions,
          .padded = padded};
}

ByteKvKernels best_kernels() {
  const auto& instructions = usable_instructions();
  if (instructions.has(Instructions::vnni)) return byte_kv_kernels_vnni();
  return instructions.has(Instructions::avxvnni) ? byte_kv_kernels_avxvnni() : byte_kv_kernels_avx2();
}

const ByteKvKernels& kernels() {
  static const ByteKvKernels best = best_kernels();
  return best;
}

}  // namespace

std::shared_ptr<const ByteKv> make_byte_kv(const at::Tensor& both, std::int64_t heads) {
  constexpr auto together = ByteKv::kTogether;
  auto kv = std::make_shared<ByteKv>();
  kv->positions = both.size(0);
  const auto padded = rounded_up(kv->positions, together);
  kv->keys = empty({heads, padded / together, together * kHeadSize}, at::kByte);
  kv->key_scales = empty({heads, padded}, at::kFloat);
  kv->values = empty({heads, padded / 4, 4 * kHeadSize}, at::kChar);
  kv->value_scales = empty({heads, padded}, at::kFloat);
  kv->value_means = empty({heads, kHeadSize}, at::kFloat);
  const auto* from = both.const_data_ptr<float>();
  auto* keys = kv->keys.mutable_data_ptr<std::uint8_t>();
  auto* key_scales = kv->key_scales.mutable_data_ptr<float>();
  auto* values = kv->values.mutable_data_ptr<std::int8_t>();
  auto* value_scales = kv->value_scales.mutable_data_ptr<float>();
  auto* value_means = kv->value_means.mutable_data_ptr<float>();
  for_each_unit(heads, [&](std::int64_t head) {
    float key_mean[kHeadSize];
    ByteKvJob job{.from = from + head * kHeadSize,
                  .stride = both.stride(0),
                  .positions = kv->positions,
                  .padded = padded,
                  .scales = key_scales + head * padded,
                  .mean = key_mean};
    kernels().pack_keys(job, keys + head * padded * kHeadSize);
    job.from += heads * kHeadSize;
    job.scales = value_scales + head * padded;
    job.mean = value_means + head * kHeadSize;
    kernels().pack_values(job, values + head * padded * kHeadSize);
  });
  return kv;
}

void attend_byte_rows(const at::Tensor& q, const std::vector<ByteRow>& rows, at::Tensor& out) {
  const auto heads = q.size(1) / kHeadSize;
  const auto together = beam_groups(rows, rows_together(std::ssize(rows), heads));
  std::int64_t most = 0;
  for (const auto& one : together) {
    most = std::max(most, one.count * ByteAttentionJob::scratch_size(padded_positions(*one.kv)));
  }
  for_each_unit(
      static_cast<std::int64_t>(together.size()) * heads,
      [&] { return std::vector<float>(static_cast<std::size_t>(most)); },
      [&](std::vector<float>& scratch, std::int64_t unit) {
        const auto& of = together[static_cast<std::size_t>(unit / heads)];
        kernels().attend(job_of(q, of, unit % heads, out), scratch.data());
      });
}

at::Tensor wide_keys(const ByteKv& kv, std::int64_t positions) {
  const auto scales = kv.key_scales.narrow(1, 0, positions).unsqueeze(2);
  return keys_in_order(kv.keys).narrow(1, 0, positions).to(at::kFloat).sub_(128).mul_(scales);
}

at::Tensor wide_values(const ByteKv& kv) {
  const auto all = in_order(kv.values).to(at::kFloat).mul_(kv.value_scales.unsqueeze(2));
  return all.add_(kv.value_means.unsqueeze(1)).narrow(1, 0, kv.positions);
}

}  // namespace tutti
