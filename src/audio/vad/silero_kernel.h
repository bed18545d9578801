#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "audio/vad/silero_weights.h"
#include "audio/vad/speech.h"

namespace tutti {

/// Windows that one call computes side by side, one per vector lane.
inline constexpr int kSileroWindows = 16;
/// Samples before a window that the network reads again.
inline constexpr int kSileroContext = 64;
/// Samples that one call sees: the context and its windows.
inline constexpr int kSileroSpan = kSileroContext + kSileroWindows * static_cast<int>(kVadWindow);

/// What the windows say to the recurrent layer: [windows, units / 32, gates, 32].
struct alignas(64) SileroGatesOfWindows {
  std::array<float, static_cast<std::size_t>(kSileroWindows* kSileroUnits* kSileroGates)> values;
};

/// The recurrent layer between two windows.
struct alignas(64) SileroState {
  std::array<float, kSileroUnits> hidden{};
  std::array<float, kSileroUnits> cell{};
};

/// The arithmetic, compiled for one generation of machines.
struct SileroKernel {
  const char* name;
  /// Everything in which windows do not depend on each other: `samples` holds kSileroSpan samples.
  void (*compute_gates)(const SileroWeights& weights, const std::int16_t* samples, SileroGatesOfWindows& gates);
  /// The recurrent layer and the output for the first `windows` windows, one after the other.
  void (*follow)(const SileroWeights& weights, const SileroGatesOfWindows& gates, int windows, SileroState& state,
                 float* probabilities);
};

/// The kernels that run on this machine, the fastest first; never empty.
std::span<const SileroKernel> silero_kernels();

}  // namespace tutti
