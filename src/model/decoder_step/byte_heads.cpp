#include "model/decoder_step/byte_heads.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/step_device.h"

namespace tutti {
namespace {

/// [heads, positions, 64] float32, without the mean.
at::Tensor centred(const at::Tensor& heads, std::int64_t positions) {
  const auto numbers = heads.narrow(1, 0, positions * kHeadSize).unflatten(1, {positions, kHeadSize});
  const auto scales = heads.narrow(1, positions * kHeadSize, positions * 4).contiguous().view(at::kFloat);
  return numbers.to(at::kFloat).mul_(scales.unsqueeze(2));
}

}  // namespace

std::shared_ptr<const ByteHeads> make_byte_heads(const at::Tensor& both, std::int64_t heads, const at::Tensor& memory) {
  auto kv = std::make_shared<ByteHeads>();
  kv->positions = both.size(0);
  auto of_both = memory;
  if (!of_both.defined()) {
    of_both = at::empty({2, heads, byte_head_size(kv->positions)}, both.options().dtype(at::kChar));
  }
  kv->keys = of_both.select(0, 0);
  kv->values = of_both.select(0, 1);
  const auto positions = static_cast<std::int32_t>(kv->positions);
  const auto sums = at::empty({2 * heads, pack_parts(positions), kHeadSize}, both.options().dtype(at::kFloat));
  const c10::DeviceGuard here(both.device());
  const auto device = kernels_of(both.device());
  device.kernels->pack({.activation = number_of(both.scalar_type()),
                        .both = both.const_data_ptr(),
                        .keys = kv->keys.mutable_data_ptr<std::int8_t>(),
                        .values = kv->values.mutable_data_ptr<std::int8_t>(),
                        .sums = sums.mutable_data_ptr<float>(),
                        .positions = positions,
                        .heads = static_cast<std::int32_t>(heads)},
                       device.stream);
  return kv;
}

at::Tensor wide_keys(const ByteHeads& kv, std::int64_t positions) {
  return centred(kv.keys, kv.positions).narrow(1, 0, positions);
}

at::Tensor wide_values(const ByteHeads& kv) {
  const auto means = kv.values.narrow(1, kv.positions * (kHeadSize + 4), kHeadSize * 4).contiguous().view(at::kFloat);
  return centred(kv.values, kv.positions).add_(means.unsqueeze(1));
}

}  // namespace tutti
