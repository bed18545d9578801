#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "link/messages.h"
#include "model/speakers/embedding.h"
#include "model/speakers/segmentation.h"

namespace tutti {

/// A worker's networks that find who speaks. Each is loaded at its first request. One thread.
class SpeakerServer {
 public:
  explicit SpeakerServer(at::Device device) : device_(device) {}

  /// SpeakersAnalyzed or Failed. memory: what came beside the request. Waits for the device.
  ToControl answer(const AnalyzeSpeakers& request, OwnedFd memory);

  /// The device is lost; the reason was answered.
  bool broken() const { return broken_; }

 private:
  /// Inputs of one length in a row, computed together.
  struct Batch {
    std::int64_t first_value = 0;
    std::int64_t count = 0;
    std::int64_t length = 0;
  };

  static Result<std::vector<Batch>> batches_of(const AnalyzeSpeakers& request);
  Result<void> load(const AnalyzeSpeakers& request);
  Result<std::vector<float>> compute(const AnalyzeSpeakers& request, OwnedFd memory);
  at::Tensor forward(bool embeds, const at::Tensor& inputs) const;

  at::Device device_;
  std::filesystem::path weights_{};  // that are loaded
  std::optional<SpeakerSegmentation> segmentation_{};
  std::optional<SpeakerEmbedding> embedding_{};
  bool broken_ = false;
};

}  // namespace tutti
