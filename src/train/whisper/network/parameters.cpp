#include "train/whisper/network/parameters.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "base/try.h"
#include "model/formats/formats.h"
#include "model/weights.h"

namespace tutti {
namespace {

constexpr const char* kAudioPositions = "encoder.positional_embedding";

at::Tensor initial_value(const WeightSlot& slot, at::Generator& generator) {
  const auto options = at::TensorOptions(at::kFloat);
  if (slot.name == kAudioPositions) return sinusoids(slot.shape[0], slot.shape[1]);
  if (slot.shape.size() == 1)
    return slot.name.ends_with(".weight") ? at::ones(slot.shape, options) : at::zeros(slot.shape, options);
  std::int64_t fan_in = 1;
  for (std::size_t i = 1; i < slot.shape.size(); ++i) fan_in *= slot.shape[i];
  const bool embedding = slot.name.find("embedding") != std::string::npos;
  const double deviation = embedding ? 0.02 : 1 / std::sqrt(3.0 * static_cast<double>(fan_in));
  return at::randn(slot.shape, generator, options).mul_(deviation);
}

}  // namespace

double sinusoid_step(std::int64_t width) {
  return std::log(10000.0) / static_cast<double>(std::max<std::int64_t>(1, width / 2 - 1));
}

at::Tensor sinusoids(std::int64_t positions, std::int64_t width) {
  const auto scales = at::exp(at::arange(width / 2, at::kFloat) * -sinusoid_step(width));
  const auto angles = at::arange(positions, at::kFloat).unsqueeze(1) * scales.unsqueeze(0);
  return at::cat({at::sin(angles), at::cos(angles)}, 1);
}

WhisperParameters new_parameters(const WhisperShape& shape, std::uint64_t seed, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  auto generator = at::detail::createCPUGenerator(seed);
  WhisperParameters made{.shape = shape};
  for (const auto& slot : weight_slots(made.weights, shape)) {
    *slot.tensor = initial_value(slot, generator).to(device);
    made.all.push_back({hugging_face_name(slot.name), *slot.tensor});
  }
  return made;
}

Result<WhisperParameters> stored_parameters(const std::shared_ptr<const Checkpoint>& checkpoint, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  WhisperParameters read{.shape = checkpoint->shape};
  for (const auto& slot : weight_slots(read.weights, read.shape)) {
    const auto stored = TRY(find_tensor(*checkpoint, slot.name, slot.shape));
    *slot.tensor = stored_values(*stored, checkpoint).to(at::kFloat).clone().to(device);
    read.all.push_back({hugging_face_name(slot.name), *slot.tensor});
  }
  return read;
}

void mark_trained(WhisperParameters& parameters, bool freeze_encoder) {
  const auto positions = hugging_face_name(kAudioPositions);
  for (auto& parameter : parameters.all) {
    const bool encoder = parameter.name.starts_with("model.encoder.");
    parameter.value.set_requires_grad(parameter.name != positions && !(encoder && freeze_encoder));
  }
}

}  // namespace tutti
