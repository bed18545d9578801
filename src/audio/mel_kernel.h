#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tutti {

/// The geometry of Whisper's spectrogram at 16 kHz.
inline constexpr int kMelFft = 400;
inline constexpr int kMelHop = 160;
inline constexpr int kMelBins = kMelFft / 2 + 1;

/// Frames that one call of the kernel computes side by side, one per vector lane.
inline constexpr int kMelLanes = 16;
/// Samples those frames see, from the first sample of the first frame to the last of the last.
inline constexpr int kMelSpan = (kMelLanes - 1) * kMelHop + kMelFft;

/// One triangular filter: its weights on consecutive bins.
struct MelFilter {
  int first_bin = 0;
  std::vector<float> weights{};
};

/// Slaney's mel filters from 0 to 8 kHz, area-normalised (librosa.filters.mel(sr=16000, n_fft=400, n_mels)), without
/// their zeros.
std::vector<MelFilter> mel_filters(int n_mels);

/// Power in mel bands of kMelLanes frames: `samples` holds kMelSpan samples, `out` gets row-major [n_mels, kMelLanes].
/// Chooses the widest vectors that this machine has. Real FFT of 400 points as a complex one of 200 = 8 x 25 (prime
/// factors, no twiddles between), every step on all lanes at once.
void mel_power(const std::vector<MelFilter>& filters, const std::int16_t* samples, float* out);

/// log10(max(power, 1e-10)) in place, within 1e-6; the natural order of `powers` does not matter. Vectorised.
void log10_of_powers(float* powers, std::int64_t count);

}  // namespace tutti
