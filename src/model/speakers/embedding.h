#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "model/speakers/named_tensors.h"

namespace tutti {

/// 3D-Speaker's CAM++ for Chinese and English: the voice of a piece of audio as a vector, to be compared by cosine.
/// Immutable.
class SpeakerEmbedding {
 public:
  static constexpr std::int64_t kFeatures = 80;     // of a frame: Kaldi's log-mel filter bank
  static constexpr std::int64_t kDimensions = 192;  // of an embedding
  static constexpr std::int64_t kLeastFrames = 10;  // of a piece

  static Result<SpeakerEmbedding> load(const std::filesystem::path& weights, at::Device device);

  /// features: [pieces, frames, kFeatures] float32 on the device, 100 frames a second, at least kLeastFrames; their
  /// means over each piece are taken out here -> [pieces, kDimensions]. Enqueues only.
  at::Tensor forward(const at::Tensor& features) const;

 private:
  struct Layer {
    at::Tensor weight{}, bias{};
  };
  struct ResidualBlock {
    Layer first{}, second{};
    Layer shortcut{};  // undefined: the input itself
    std::int64_t stride = 1;
  };
  /// A layer of a dense block: what it makes of all channels before it becomes 32 more.
  struct DenseLayer {
    ChannelNorm norm{};         // each [channels, 1]
    Layer bottleneck{};         // [128, channels], its norm folded in
    at::Tensor local{};         // [32, 3 * 128], tap by tap
    Layer context_in{};         // [64, 128]
    Layer context_out{};        // [32, 64]
    std::int64_t dilation = 1;  // of `local`
  };
  struct DenseBlock {
    std::vector<DenseLayer> layers{};
    ChannelNorm norm{};
    at::Tensor transit{};  // [channels / 2, channels]
  };

  static at::Tensor head(const SpeakerEmbedding& network, const at::Tensor& features);
  static at::Tensor masked_local(const DenseLayer& layer, const at::Tensor& x, std::int64_t pieces);
  static at::Tensor through(const DenseBlock& block, const at::Tensor& x, std::int64_t pieces);

  Layer conv1_{}, conv2_{};
  std::vector<ResidualBlock> residual_{};
  Layer tdnn_{};
  std::vector<DenseBlock> blocks_{};
  ChannelNorm out_norm_{};
  Layer dense_{};
};

}  // namespace tutti
