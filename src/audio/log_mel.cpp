#include "audio/log_mel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "audio/mel_kernel.h"

namespace tutti {
namespace {

constexpr float kFloor = 1e-10F;  // of power, before the logarithm
constexpr std::int64_t kFramesAtOnce = 3072;

/// The samples that frames [first, first + frames) see, rounded up to whole kernel calls. The reference centres frame t
/// on sample 160 t and mirrors the recording at its start; at its end lie 30 s of zeros, so nothing is mirrored there.
Result<std::vector<std::int16_t>> samples_of(const Recording& recording, std::int64_t first, std::int64_t frames) {
  const std::int64_t calls = (frames + kMelLanes - 1) / kMelLanes;
  std::vector<std::int16_t> samples(static_cast<std::size_t>(calls * kMelLanes * kMelHop + kMelFft - kMelHop));
  const std::int64_t start = first * kMelHop - kMelFft / 2;
  if (auto read = recording.read(start, samples); !read) return tl::unexpected<Error>(read.error());
  if (start >= 0) return samples;
  std::array<std::int16_t, kMelFft / 2> mirrored;  // samples 1, 2, ... that stand at -1, -2, ...
  if (auto read = recording.read(1, mirrored); !read) return tl::unexpected<Error>(read.error());
  const auto before = std::min<std::int64_t>(-start, static_cast<std::int64_t>(samples.size()));
  for (std::int64_t i = 0; i < before; ++i) {
    const std::int64_t back = -(start + i);
    if (back <= kMelFft / 2) samples[static_cast<std::size_t>(i)] = mirrored[static_cast<std::size_t>(back - 1)];
  }
  return samples;
}

}  // namespace

struct LogMel::Tables {
  int n_mels;
  std::vector<MelFilter> filters;

  /// Mel powers of `frames` frames into row-major [n_mels, frames].
  void powers(const std::vector<std::int16_t>& samples, std::int64_t frames, float* out) const {
    std::vector<float> block(static_cast<std::size_t>(n_mels * kMelLanes));
    for (std::int64_t at = 0; at < frames; at += kMelLanes) {
      mel_power(filters, samples.data() + at * kMelHop, block.data());
      const auto lanes = std::min<std::int64_t>(kMelLanes, frames - at);
      for (int mel = 0; mel < n_mels; ++mel)
        std::copy_n(block.data() + mel * kMelLanes, lanes, out + mel * frames + at);
    }
  }

  /// The largest mel power of frames [first, first + frames).
  Result<float> peak(const Recording& recording, std::int64_t first, std::int64_t frames) const {
    const auto samples = samples_of(recording, first, frames);
    if (!samples) return tl::unexpected<Error>(samples.error());
    std::vector<float> block(static_cast<std::size_t>(n_mels * kMelLanes));
    float peak = kFloor;
    for (std::int64_t at = 0; at < frames; at += kMelLanes) {
      mel_power(filters, samples->data() + at * kMelHop, block.data());
      const auto lanes = std::min<std::int64_t>(kMelLanes, frames - at);
      for (int mel = 0; mel < n_mels; ++mel)
        for (std::int64_t lane = 0; lane < lanes; ++lane)
          peak = std::max(peak, block[static_cast<std::size_t>(mel * kMelLanes + lane)]);
    }
    return peak;
  }

  /// log10 of the powers of frames [first, first + frames), row-major [n_mels, frames], not clamped yet.
  Result<std::vector<float>> logs(const Recording& recording, std::int64_t first, std::int64_t frames) const {
    const auto samples = samples_of(recording, first, frames);
    if (!samples) return tl::unexpected<Error>(samples.error());
    std::vector<float> mel(static_cast<std::size_t>(n_mels * frames));
    powers(*samples, frames, mel.data());
    log10_of_powers(mel.data(), static_cast<std::int64_t>(mel.size()));
    return mel;
  }
};

LogMel::LogMel(int n_mels) : tables_(std::make_unique<Tables>(Tables{n_mels, mel_filters(n_mels)})) {}
LogMel::~LogMel() = default;
LogMel::LogMel(LogMel&&) noexcept = default;
LogMel& LogMel::operator=(LogMel&&) noexcept = default;

int LogMel::n_mels() const {
  return tables_->n_mels;
}

std::int64_t LogMel::content_frames(const Recording& recording) {
  return recording.samples() / kMelHop;
}

Result<float> LogMel::maximum(const Recording& recording) const {
  // Frames that straddle the end count too; those of the padding behind them are the floor itself.
  const std::int64_t frames = (recording.samples() + kMelFft / 2 - 1) / kMelHop + 1;
  float peak = kFloor;
  for (std::int64_t first = 0; first < frames; first += kFramesAtOnce) {
    const auto part = tables_->peak(recording, first, std::min(kFramesAtOnce, frames - first));
    if (!part) return part;
    peak = std::max(peak, *part);
  }
  return std::log10(peak);
}

Result<std::vector<float>> LogMel::window(const Recording& recording, std::int64_t first, std::int64_t frames,
                                          float maximum) const {
  auto mel = tables_->logs(recording, first, frames);
  if (!mel) return mel;
  const float least = maximum - 8;
  for (float& value : *mel) value = (std::max(value, least) + 4) * 0.25F;
  return mel;
}

}  // namespace tutti
