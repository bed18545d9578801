#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"

namespace tutti {

/// pyannote's segmentation-3.0 (PyanNet): who of three local speakers speaks when, in 10 s of audio. Immutable.
class SpeakerSegmentation {
 public:
  static constexpr std::int64_t kSamples = 160000;  // of a window, at 16 kHz
  static constexpr std::int64_t kClasses = 7;       // silence, a, b, c, a and b, a and c, b and c

  static Result<SpeakerSegmentation> load(const std::filesystem::path& weights, at::Device device);

  /// pcm: [windows, kSamples] float32, -1 to 1, on the device -> [windows, frames, kClasses] log-probabilities. Frame k
  /// is centred on 30.94 + 16.875 k ms. Enqueues only.
  at::Tensor forward(const at::Tensor& pcm) const;

 private:
  struct Layer {
    at::Tensor weight{}, bias{};
  };
  struct Normed {
    at::Tensor weight{}, bias{};  // of the instance norm that follows
  };

  Normed wave_norm_{};
  at::Tensor sinc_{};  // [80, 1, 251]
  Normed norms_[3]{};
  Layer convolutions_[2]{};
  std::vector<at::Tensor> lstm_{};
  Layer linear_[2]{};
  Layer classifier_{};
};

}  // namespace tutti
