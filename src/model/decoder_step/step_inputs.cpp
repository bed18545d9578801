#include "model/decoder_step/step_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "model/decoder_step/byte_heads.h"

namespace tutti {
namespace {

/// Where a slot of a layer begins.
struct SlotBytes {
  const std::byte* first;
  std::int64_t stride;

  explicit SlotBytes(const at::Tensor& layer)
      : first(static_cast<const std::byte*>(layer.const_data_ptr())),
        stride(layer.stride(0) * static_cast<std::int64_t>(layer.element_size())) {}
  const std::byte* of(std::int64_t slot) const { return first + slot * stride; }
};

KvRow seen_of(const CrossLayer& window) {
  if (window.heads) {
    return {window.heads->keys.const_data_ptr(), window.heads->values.const_data_ptr(),
            static_cast<std::int32_t>(window.heads->positions)};
  }
  return {window.keys.const_data_ptr(), window.values.const_data_ptr(), static_cast<std::int32_t>(window.keys.size(1))};
}

/// Those of each window, then padding, then none.
void write_shared(const DecodePlan& plan, std::span<const SequenceStep> sequences, std::span<SharedRows> shared) {
  std::size_t written = 0;
  std::int32_t first = 0;
  const auto share = [&](std::int32_t end) {
    for (; first < end; first += kMostSharedRows) shared[written++] = {first, std::min(end - first, kMostSharedRows)};
    first = end;
  };
  for (std::size_t i = 1; i < sequences.size(); ++i) {
    if (sequences[i].window != sequences[i - 1].window) share(static_cast<std::int32_t>(plan.sequences[i].first));
  }
  share(static_cast<std::int32_t>(plan.tokens.size()));
  share(static_cast<std::int32_t>(shared.size()));
  std::ranges::fill(shared.subspan(written), SharedRows{});
}

}  // namespace

std::int32_t bucket_for(std::int32_t rows) {
  constexpr std::array<std::int32_t, 9> kSmall{1, 2, 4, 8, 16, 24, 32, 48, 64};
  const auto* const found = std::ranges::lower_bound(kSmall, rows);
  return found != kSmall.end() ? *found : (rows + 31) / 32 * 32;
}

void write_inputs(const StepInputs& inputs, const DecodePlan& plan, std::span<const SequenceStep> sequences,
                  const SelfKv& cache, std::byte* block) {
  const auto spare = static_cast<std::int32_t>(cache.slots()) - 1;
  auto* tokens = reinterpret_cast<std::int32_t*>(block + inputs.tokens());
  auto* positions = reinterpret_cast<std::int32_t*>(block + inputs.positions());
  auto* slots = reinterpret_cast<std::int32_t*>(block + inputs.slots());
  const auto filled = static_cast<std::int32_t>(plan.tokens.size());
  for (std::int32_t row = 0; row < inputs.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool padding = row >= filled;
    tokens[row] = padding ? 0 : static_cast<std::int32_t>(plan.tokens[at]);
    positions[row] = padding ? 0 : static_cast<std::int32_t>(plan.positions[at]);
    slots[row] = spare;
  }
  for (const auto& sequence : plan.sequences)
    std::fill_n(slots + sequence.first, sequence.count, static_cast<std::int32_t>(sequence.slot));
  write_shared(plan, sequences,
               {reinterpret_cast<SharedRows*>(block + inputs.shared()), static_cast<std::size_t>(inputs.rows)});
  for (std::int32_t layer = 0; layer < inputs.layers; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    auto* self = reinterpret_cast<KvRow*>(block + inputs.self(layer));
    auto* cross = reinterpret_cast<KvRow*>(block + inputs.cross(layer));
    const SlotBytes keys(cache.keys[index]), values(cache.values[index]);
    for (std::int32_t row = 0; row < inputs.rows; ++row)
      self[row] = {keys.of(slots[row]), values.of(slots[row]), positions[row] + 1};
    for (std::size_t i = 0; i < sequences.size(); ++i)
      std::fill_n(cross + plan.sequences[i].first, plan.sequences[i].count,
                  seen_of(sequences[i].window->layers.at(index)));
    auto padding = seen_of(sequences.front().window->layers.at(index));
    padding.length = 1;
    std::fill(cross + filled, cross + inputs.rows, padding);
  }
}

}  // namespace tutti
