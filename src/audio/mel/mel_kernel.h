#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace tutti {

/// The geometry of Whisper's spectrogram at 16 kHz.
inline constexpr int kMelFft = 400;
inline constexpr int kMelHop = 160;
inline constexpr int kMelBins = kMelFft / 2 + 1;

/// The least power, before the logarithm; and the powers of ten below the loudest that are kept.
inline constexpr float kMelFloor = 1e-10F;
inline constexpr float kMelDecades = 8;

/// Frames that one call of the kernel computes side by side, one per vector lane.
inline constexpr int kMelLanes = 16;
/// Samples those frames see, from the first sample of the first frame to the last of the last.
inline constexpr int kMelSpan = (kMelLanes - 1) * kMelHop + kMelFft;

/// One triangular filter: its weights on consecutive bins.
struct MelFilter {
  int first_bin = 0;
  std::vector<float> weights{};
};

/// What a bank of mel filters covers.
struct MelBands {
  Hertz rate{};
  int n_fft = 0;
  int n_mels = 0;
  double lowest = 0;   ///< Hz
  double highest = 0;  ///< Hz
};

/// Slaney's mel filters, area-normalised (librosa.filters.mel), without their zeros.
std::vector<MelFilter> slaney_filters(const MelBands& bands);

/// Slaney's mel filters from 0 to 8 kHz, area-normalised (librosa.filters.mel(sr=16000, n_fft=400, n_mels)), without
/// their zeros.
std::vector<MelFilter> mel_filters(int n_mels);

/// The arithmetic, compiled for one generation of machines.
struct MelKernel {
  const char* name;
  /// Power in mel bands of kMelLanes frames: `samples` holds kMelSpan samples, `out` gets row-major [n_mels,
  /// kMelLanes]. Real FFT of 400 points as a complex one of 200 = 8 x 25 (prime factors, no twiddles between), all
  /// lanes at once.
  void (*power)(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out);
  /// log10(max(power, 1e-10)) in place, within 1e-6.
  void (*log10)(float* powers, std::int64_t count);
};

/// The kernels that run on this machine, the fastest first; never empty.
std::span<const MelKernel> mel_kernels();

}  // namespace tutti
