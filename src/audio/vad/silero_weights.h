#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace tutti {

/// Silero VAD 6.2, 16 kHz, as tools/golden/silero_weights.py wrote it (snakers4/silero-vad, MIT).
extern const std::string_view kSileroWeights;

/// Input and state of the network's recurrent layer, and the gates of each unit in torch's order: input, forget, cell,
/// output.
inline constexpr int kSileroUnits = 128;
inline constexpr int kSileroGates = 4;
/// Units whose gates are adjacent in memory.
inline constexpr int kSileroGroup = 32;

/// A convolution of three taps: weights [out / block, in, block, 3], a block of outputs being computed at once.
template <int kIn, int kOut, int kBlockSize>
struct SileroConvolution {
  static constexpr int kInputs = kIn, kOutputs = kOut, kBlock = kBlockSize;
  alignas(64) std::array<float, static_cast<std::size_t>(kIn) * kOut * 3> weights;
  std::array<float, kOut> bias;
};

/// A linear layer from 128 numbers to the gates of 128 units: [units / 32, 128, gates, 32], read front to back.
using SileroGateWeights = std::array<float, static_cast<std::size_t>(kSileroUnits* kSileroUnits* kSileroGates)>;

/// The network's weights in the order in which the arithmetic reads them.
struct SileroWeights {
  SileroConvolution<129, 128, 4> conv1;
  SileroConvolution<128, 64, 8> conv2;
  SileroConvolution<64, 64, 8> conv3;
  SileroConvolution<64, 128, 8> conv4;
  alignas(64) SileroGateWeights from_input;
  alignas(64) SileroGateWeights from_state;
  alignas(
      64) std::array<float, static_cast<std::size_t>(kSileroUnits* kSileroGates)> gate_bias;  // [units / 32, gates, 32]
  alignas(64) std::array<float, kSileroUnits> output;
  float output_bias;
};

/// Those above, reordered at the first call.
const SileroWeights& silero_weights();

}  // namespace tutti
