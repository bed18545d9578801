#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "model/weights.h"

namespace tutti {

inline std::shared_ptr<const Checkpoint> opened(const std::filesystem::path& path) {
  auto checkpoint = open_checkpoint(path);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().text());
  return std::make_shared<const Checkpoint>(std::move(*checkpoint));
}

/// Every tensor of a model in float32, by OpenAI's name.
inline std::map<std::string, at::Tensor> loaded_weights(const std::filesystem::path& path) {
  const auto checkpoint = opened(path);
  auto weights = bind_weights(checkpoint);
  if (!weights) throw std::runtime_error(weights.error().text());
  std::map<std::string, at::Tensor> tensors;
  for (const auto& slot : weight_slots(*weights, checkpoint->shape)) tensors[slot.name] = slot.tensor->to(at::kFloat);
  return tensors;
}

/// What opening the path and binding its weights fails with.
inline std::string load_failure(const std::filesystem::path& path) {
  auto checkpoint = open_checkpoint(path);
  if (!checkpoint) return checkpoint.error().text();
  const auto weights = bind_weights(std::make_shared<const Checkpoint>(std::move(*checkpoint)));
  return weights ? "loaded" : weights.error().text();
}

}  // namespace tutti
