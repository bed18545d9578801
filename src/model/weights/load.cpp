#include "model/weights/load.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "base/log.h"
#include "model/cpu/parallel.h"
#include "model/formats/row_values.h"

namespace tutti {
namespace {

at::ScalarType scalar_type(ElementType type) {
  switch (type) {
    case ElementType::f16: return at::kHalf;
    case ElementType::bf16: return at::kBFloat16;
    default: return at::kFloat;
  }
}

bool is_within(const MappedFile& file, std::span<const std::byte> bytes) {
  const auto all = file.bytes();
  return bytes.data() >= all.data() && bytes.data() + bytes.size() <= all.data() + all.size();
}

/// Returns to the system the whole pages of a tensor that has been packed or copied to a device, so that no model is
/// held twice. They are the file's: a later reader gets them again.
void let_go(const Checkpoint& owner, std::span<const std::byte> bytes) {
  if (std::ranges::none_of(owner.files, [&](const MappedFile& file) { return is_within(file, bytes); })) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// The tensor as it is in the mapping. It keeps the checkpoint alive.
at::Tensor mapped(const StoredTensor& stored, std::shared_ptr<const Checkpoint> owner) {
  // from_blob wants a mutable pointer; the pages are read-only, and nothing writes to weights.
  auto* data = const_cast<std::byte*>(stored.bytes.data());
  const auto done = [owner = std::move(owner), bytes = stored.bytes](void*) { let_go(*owner, bytes); };
  return at::from_blob(data, stored.shape, done, at::TensorOptions(scalar_type(stored.type)));
}

/// Old files may put data at odd addresses; arithmetic on those would be undefined, a byte-wise copy is not.
at::Tensor aligned_copy(const StoredTensor& stored) {
  auto copy = at::empty(stored.shape, at::TensorOptions(scalar_type(stored.type)));
  std::memcpy(copy.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return copy;
}

/// Scales multiplied out, in float32.
at::Tensor dequantised(const StoredTensor& stored) {
  auto values = at::empty(stored.shape, at::TensorOptions(at::kFloat));
  const auto width = static_cast<std::size_t>(values[0].numel());
  auto* out = values.mutable_data_ptr<float>();
  for_each_unit(stored.shape[0], [&](std::int64_t row) {
    read_row(stored, row, {out + static_cast<std::size_t>(row) * width, width});
  });
  return values;
}

/// The output layer is the token embedding, yet some files carry it twice.
bool is_known_extra(const std::string& name) {
  return name == "proj_out.weight";
}

void warn_of_unused(const Checkpoint& checkpoint, const std::vector<WeightSlot>& slots) {
  std::unordered_set<std::string> used;
  for (const auto& slot : slots) used.insert(slot.name);
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (used.contains(name) || is_known_extra(name)) continue;
    log(Level::warning, checkpoint.path.string() + ": tensor '" + tensor.name + "' " + shape_text(tensor.shape) +
                            " belongs to no part of a Whisper model and is not used");
  }
}

}  // namespace

at::Tensor stored_values(const StoredTensor& stored, const std::shared_ptr<const Checkpoint>& owner) {
  if (is_quantised(stored)) return dequantised(stored);
  const bool aligned = reinterpret_cast<std::uintptr_t>(stored.bytes.data()) % size_of(stored.type) == 0;
  return aligned ? mapped(stored, owner) : aligned_copy(stored);
}

Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint) {
  const c10::InferenceMode guard;
  WhisperWeights weights;
  const auto slots = weight_slots(weights, checkpoint->shape);
  for (const auto& slot : slots) {
    const auto stored = find_tensor(*checkpoint, slot.name, slot.shape);
    if (!stored) return tl::unexpected(stored.error());
    *slot.tensor = stored_values(**stored, checkpoint);
  }
  warn_of_unused(*checkpoint, slots);
  return weights;
}

WhisperWeights random_weights(const WhisperShape& shape) {
  const c10::InferenceMode guard;
  WhisperWeights weights;
  for (const auto& slot : weight_slots(weights, shape)) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < slot.shape.size(); ++i) fan_in *= slot.shape[i];
    const double scale = 1 / std::sqrt(static_cast<double>(fan_in));
    const bool is_norm_scale = slot.shape.size() == 1 && slot.name.ends_with(".weight");
    auto values = at::randn(slot.shape, at::TensorOptions(at::kFloat)).mul_(slot.shape.size() == 1 ? 0.02 : scale);
    if (is_norm_scale) values.add_(1.0);
    *slot.tensor = std::move(values);
  }
  return weights;
}

}  // namespace tutti
