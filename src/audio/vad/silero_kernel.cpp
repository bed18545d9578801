#include "audio/vad/silero_kernel.h"

#include <cmath>
#include <vector>

#include "audio/lanes.h"

// Silero VAD 6.2 at 16 kHz, as its TorchScript computes it. A window is 64 samples of context and 512 of its own, with
// 64 more mirrored behind. Four frames of 256 samples, 128 apart, become the magnitudes of 129 frequencies; four
// convolutions over the frames make one vector of 128 of them; an LSTM cell follows the windows; its output is weighed
// into one number.

namespace tutti {
namespace {

constexpr int kFft = 256, kHalf = kFft / 2, kHop = 128, kFrames = 4, kBins = kHalf + 1;
constexpr int kInputSamples = kSileroContext + static_cast<int>(kVadWindow);
constexpr int kRows = kInputSamples + 64;  // with what is mirrored

struct Constants {
  std::array<float, kFft> window{};  // Hann, halved (the split doubles), over full scale
  std::array<Twiddle, kHalf> turn128{};
  std::array<Twiddle, kHalf / 2 + 1> turn256{};

  Constants() {
    for (unsigned n = 0; n < kFft; ++n)
      window[n] = static_cast<float>((0.25 - 0.25 * std::cos(2 * std::numbers::pi * n / kFft)) / 32768);
    for (unsigned k = 0; k < turn128.size(); ++k) turn128[k] = turn_by(k / 128.0);
    for (unsigned k = 0; k < turn256.size(); ++k) turn256[k] = turn_by(k / 256.0);
  }
};
const Constants constants;

/// Between the layers: [channels, frames, windows].
template <int kChannels, int kFramesOf>
struct alignas(64) Activations {
  float values[kChannels * kFramesOf * kSileroWindows];
  TUTTI_INLINE float* at(int channel, int frame) { return values + (channel * kFramesOf + frame) * kSileroWindows; }
  TUTTI_INLINE const float* at(int channel, int frame) const {
    return values + (channel * kFramesOf + frame) * kSileroWindows;
  }
};

/// The windows side by side: [samples of a window, windows], the last 64 samples mirrored.
void transpose(const std::int16_t* samples, float* rows) {
  for (int i = 0; i < kRows; ++i) {
    const int sample = i < kInputSamples ? i : 2 * (kInputSamples - 1) - i;
    for (int window = 0; window < kSileroWindows; ++window)
      rows[i * kSileroWindows + window] = static_cast<float>(samples[window * kVadWindow + sample]);
  }
}

/// Forward transform of 128 points in place, 128 = 8 x 16; frequency k1 + 8 k2 ends at 16 k1 + k2.
template <int lanes>
TUTTI_INLINE void fft128(Complex<lanes>* z) {
  for (int n2 = 0; n2 < 16; ++n2) {
    Complex<lanes> x[8];
    for (int n1 = 0; n1 < 8; ++n1) x[n1] = z[16 * n1 + n2];
    fft8(x);
    z[n2] = x[0];
    for (int k1 = 1; k1 < 8; ++k1)
      z[16 * k1 + n2] = x[k1] * constants.turn128[static_cast<std::size_t>(k1) * static_cast<std::size_t>(n2)];
  }
  for (int k1 = 0; k1 < 8; ++k1) {
    Complex<lanes> even[8], odd[8];
    for (int m = 0; m < 8; ++m) even[m] = z[16 * k1 + 2 * m];
    for (int m = 0; m < 8; ++m) odd[m] = z[16 * k1 + 2 * m + 1];
    fft8(even);
    fft8(odd);
    for (int k2 = 0; k2 < 8; ++k2) {
      const auto turned = odd[k2] * constants.turn128[8 * static_cast<std::size_t>(k2)];
      z[16 * k1 + k2] = even[k2] + turned;
      z[16 * k1 + k2 + 8] = even[k2] - turned;
    }
  }
}

constexpr int index_of(int k) {
  return k % 8 * 16 + k / 8;
}

/// Square roots of numbers that are not negative, within 2e-7 of themselves: 1 / sqrt(x) by three of Newton's steps
/// from a first guess that halves the exponent. (sqrtf may set errno, so the compiler would take the lanes one by one.)
template <int lanes>
TUTTI_INLINE V<lanes> root(V<lanes> x) {
  using Bits = typename FloatVector<lanes>::bits;
  x = x > 1e-30F ? x : V<lanes>{} + 1e-30F;
  auto inverse = reinterpret_cast<V<lanes>>(0x5f3759df - (reinterpret_cast<Bits>(x) >> 1));
  for (int step = 0; step < 3; ++step) inverse *= 1.5F - 0.5F * x * inverse * inverse;
  return x * inverse;
}

template <int lanes>
TUTTI_INLINE void magnitudes(const float* rows, int frame, Activations<kBins, kFrames>& out, int lane) {
  Complex<lanes> z[kHalf];
  for (int n = 0; n < kHalf; ++n) {
    const float* row = rows + (frame * kHop + 2 * n) * kSileroWindows;
    const auto at = 2 * static_cast<std::size_t>(n);
    z[n] = {load<lanes>(row) * constants.window[at], load<lanes>(row + kSileroWindows) * constants.window[at + 1]};
  }
  fft128(z);
  for (int k = 0; k <= kHalf / 2; ++k) {
    V<lanes> low, high;
    split_powers(z[index_of(k)], z[index_of((kHalf - k) % kHalf)], constants.turn256[static_cast<std::size_t>(k)], low,
                 high);
    store<lanes>(out.at(k, frame) + lane, root<lanes>(low));
    store<lanes>(out.at(kHalf - k, frame) + lane, root<lanes>(high));
  }
}

/// One convolution of 3 taps, padded by one frame of zeros to either side, and max(0, .).
template <int lanes, int kStride, int kIn, class Convolution, int kOut = (kIn + kStride - 1) / kStride>
TUTTI_INLINE void convolve(const Convolution& layer, const Activations<Convolution::kInputs, kIn>& in,
                           Activations<Convolution::kOutputs, kOut>& out, int lane) {
  // Sums that fit into the registers beside what they are made of: 32 with 16 lanes, else 16.
  constexpr int kAtOnce = lanes == 16 ? Convolution::kBlock : Convolution::kBlock / 2;
  for (int first = 0; first < Convolution::kOutputs; first += kAtOnce) {
    const int block = first / Convolution::kBlock;
    const float* weights =
        layer.weights.data() + block * Convolution::kInputs * Convolution::kBlock * 3 + first % Convolution::kBlock * 3;
    V<lanes> sums[kAtOnce][kOut];
    for (int o = 0; o < kAtOnce; ++o)
      for (int frame = 0; frame < kOut; ++frame)
        sums[o][frame] = V<lanes>{} + layer.bias[static_cast<std::size_t>(first) + static_cast<std::size_t>(o)];
    for (int i = 0; i < Convolution::kInputs; ++i, weights += Convolution::kBlock * 3) {
      V<lanes> x[kIn];
      for (int frame = 0; frame < kIn; ++frame) x[frame] = load<lanes>(in.at(i, frame) + lane);
      for (int o = 0; o < kAtOnce; ++o)
        for (int tap = 0; tap < 3; ++tap)
          for (int frame = 0; frame < kOut; ++frame) {
            const int input = frame * kStride + tap - 1;
            if (input >= 0 && input < kIn) sums[o][frame] += x[input] * weights[o * 3 + tap];
          }
    }
    for (int o = 0; o < kAtOnce; ++o)
      for (int frame = 0; frame < kOut; ++frame)
        store<lanes>(out.at(first + o, frame) + lane, sums[o][frame] > 0 ? sums[o][frame] : V<lanes>{});
  }
}

/// The input's share of all gates: few windows times a few vectors of gates at once.
template <int lanes>
TUTTI_INLINE void feed_gates(const SileroWeights& weights, const Activations<kSileroUnits, 1>& in,
                             SileroGatesOfWindows& gates) {
  constexpr int kColumns = kSileroGates * kSileroGroup, kAtOnce = 4, kVectors = lanes == 16 ? 4 : 2;
  for (int column = 0; column < kSileroUnits * kSileroGates; column += kVectors * lanes) {
    const float* of_group = weights.from_input.data() + column / kColumns * kColumns * kSileroUnits + column % kColumns;
    for (int first = 0; first < kSileroWindows; first += kAtOnce) {
      V<lanes> sums[kAtOnce][kVectors];
      for (auto& sum : sums)
        for (int v = 0; v < kVectors; ++v) sum[v] = load<lanes>(weights.gate_bias.data() + column + v * lanes);
      for (int k = 0; k < kSileroUnits; ++k) {
        const float* x = in.at(k, 0) + first;
        for (int v = 0; v < kVectors; ++v) {
          const auto w = load<lanes>(of_group + k * kColumns + v * lanes);
          for (int window = 0; window < kAtOnce; ++window) sums[window][v] += w * x[window];
        }
      }
      for (int window = 0; window < kAtOnce; ++window)
        for (int v = 0; v < kVectors; ++v)
          store<lanes>(gates.values.data() + (first + window) * kSileroUnits * kSileroGates + column + v * lanes,
                       sums[window][v]);
    }
  }
}

template <int lanes>
TUTTI_INLINE void gates_by(const SileroWeights& weights, const std::int16_t* samples, SileroGatesOfWindows& gates) {
  alignas(64) float rows[kRows * kSileroWindows];
  Activations<kBins, 4> spectrum;
  Activations<128, 4> first;
  Activations<64, 2> second;
  Activations<64, 1> third;
  Activations<128, 1> fourth;
  transpose(samples, rows);
  for (int lane = 0; lane < kSileroWindows; lane += lanes) {
    for (int frame = 0; frame < kFrames; ++frame) magnitudes<lanes>(rows + lane, frame, spectrum, lane);
    convolve<lanes, 1>(weights.conv1, spectrum, first, lane);
    convolve<lanes, 2>(weights.conv2, first, second, lane);
    convolve<lanes, 2>(weights.conv3, second, third, lane);
    convolve<lanes, 1>(weights.conv4, third, fourth, lane);
  }
  feed_gates<lanes>(weights, fourth, gates);
}

template <int lanes>
TUTTI_INLINE V<lanes> sigmoid(V<lanes> x) {
  return 1 / (1 + exponential<lanes>(-x));
}
template <int lanes>
TUTTI_INLINE V<lanes> tanh_of(V<lanes> x) {
  return 1 - 2 / (1 + exponential<lanes>(x + x));
}

/// One window of the recurrent layer. `gates` is that window's share.
template <int lanes>
TUTTI_INLINE void step(const SileroWeights& weights, const float* gates, SileroState& state) {
  constexpr int kColumns = kSileroGates * kSileroGroup, kVectors = 2;
  const SileroState before = state;
  for (int unit = 0; unit < kSileroUnits; unit += kVectors * lanes) {
    const int column = unit / kSileroGroup * kColumns + unit % kSileroGroup;
    const float* w = weights.from_state.data() + unit / kSileroGroup * kColumns * kSileroUnits + unit % kSileroGroup;
    V<lanes> sums[kSileroGates][kVectors];
    for (int gate = 0; gate < kSileroGates; ++gate)
      for (int v = 0; v < kVectors; ++v) sums[gate][v] = load<lanes>(gates + column + gate * kSileroGroup + v * lanes);
    for (std::size_t k = 0; k < kSileroUnits; ++k, w += kColumns)
      for (int gate = 0; gate < kSileroGates; ++gate)
        for (int v = 0; v < kVectors; ++v)
          sums[gate][v] += load<lanes>(w + gate * kSileroGroup + v * lanes) * before.hidden[k];
    for (int v = 0; v < kVectors; ++v) {
      const int at = unit + v * lanes;
      const auto cell = sigmoid<lanes>(sums[1][v]) * load<lanes>(before.cell.data() + at) +
                        sigmoid<lanes>(sums[0][v]) * tanh_of<lanes>(sums[2][v]);
      store<lanes>(state.cell.data() + at, cell);
      store<lanes>(state.hidden.data() + at, sigmoid<lanes>(sums[3][v]) * tanh_of<lanes>(cell));
    }
  }
}

template <int lanes>
TUTTI_INLINE float probability(const SileroWeights& weights, const SileroState& state) {
  V<lanes> sums{};
  for (int unit = 0; unit < kSileroUnits; unit += lanes) {
    const auto hidden = load<lanes>(state.hidden.data() + unit);
    sums += (hidden > 0 ? hidden : V<lanes>{}) * load<lanes>(weights.output.data() + unit);
  }
  float sum = weights.output_bias;
  for (int i = 0; i < lanes; ++i) sum += sums[i];
  return 1 / (1 + std::exp(-sum));
}

template <int lanes>
TUTTI_INLINE void follow_by(const SileroWeights& weights, const SileroGatesOfWindows& gates, int windows,
                            SileroState& state, float* probabilities) {
  for (int window = 0; window < windows; ++window) {
    step<lanes>(weights, gates.values.data() + window * kSileroUnits * kSileroGates, state);
    probabilities[window] = probability<lanes>(weights, state);
  }
}

using Weights = SileroWeights;
using Gates = SileroGatesOfWindows;

[[TUTTI_AVX512]] void gates_avx512(const Weights& weights, const std::int16_t* samples, Gates& gates) {
  gates_by<16>(weights, samples, gates);
}
[[TUTTI_AVX2]] void gates_avx2(const Weights& weights, const std::int16_t* samples, Gates& gates) {
  gates_by<8>(weights, samples, gates);
}
void gates_any(const Weights& weights, const std::int16_t* samples, Gates& gates) {
  gates_by<4>(weights, samples, gates);
}
[[TUTTI_AVX512]] void follow_avx512(const Weights& weights, const Gates& gates, int windows, SileroState& state,
                                    float* probabilities) {
  follow_by<16>(weights, gates, windows, state, probabilities);
}
[[TUTTI_AVX2]] void follow_avx2(const Weights& weights, const Gates& gates, int windows, SileroState& state,
                                float* probabilities) {
  follow_by<8>(weights, gates, windows, state, probabilities);
}
void follow_any(const Weights& weights, const Gates& gates, int windows, SileroState& state, float* probabilities) {
  follow_by<4>(weights, gates, windows, state, probabilities);
}

std::vector<SileroKernel> kernels_here() {
  std::vector<SileroKernel> kernels;
  if (runs_avx512()) kernels.push_back({"avx512", gates_avx512, follow_avx512});
  if (runs_avx2()) kernels.push_back({"avx2", gates_avx2, follow_avx2});
  kernels.push_back({"any", gates_any, follow_any});
  return kernels;
}

}  // namespace

std::span<const SileroKernel> silero_kernels() {
  static const std::vector<SileroKernel> kernels = kernels_here();
  return kernels;
}

}  // namespace tutti
