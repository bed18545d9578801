#include "audio/mel/log_mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "audio/mel/mel_kernel.h"
#include "audio/pcm_samples.h"
#include "audio/tone_filter.h"
#include "base/try.h"

namespace tutti {
namespace {

/// Frames whose samples are read at once: they stay in the second-level cache.
constexpr std::int64_t kFramesAtOnce = 16 * kMelLanes;

/// The samples that frames [first, first + frames) see, rounded up to whole kernel calls. The reference centres frame t
/// on sample 160 t and mirrors the recording at its start. It pads the end with 30 s of zeros, so nothing is mirrored
/// there.
Result<void> read_samples(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                          std::vector<std::int16_t>& samples) {
  const std::int64_t calls = (frames + kMelLanes - 1) / kMelLanes;
  samples.resize(static_cast<std::size_t>(calls * kMelLanes * kMelHop + kMelFft - kMelHop));
  const std::int64_t start = first * kMelHop - kMelFft / 2;
  auto read = recording.read(start, samples);
  if (!read || start >= 0) return read;
  std::array<std::int16_t, kMelFft / 2> mirrored;  // samples 1, 2, ... that are read at -1, -2, ...
  read = recording.read(1, mirrored);
  if (!read) return read;
  for (std::int64_t i = 0; i < -start && i < std::ssize(samples); ++i) {
    const std::int64_t back = -(start + i);
    if (back <= std::ssize(mirrored))
      samples[static_cast<std::size_t>(i)] = mirrored[static_cast<std::size_t>(back - 1)];
  }
  return {};
}

/// What the recording has from the start of frame `first` on, at most `frames`.
Result<std::vector<std::int16_t>> samples_within(const SampleReader& recording, std::int64_t first,
                                                 std::int64_t frames) {
  const std::int64_t start = first * kMelHop, end = std::min(start + frames * kMelHop, recording.samples());
  std::vector<std::int16_t> samples(static_cast<std::size_t>(std::max<std::int64_t>(end - start, 0)));
  return recording.read(start, samples).map([&] { return std::move(samples); });
}

/// The largest of `values` and `least`; several at a time, because one running maximum waits for itself.
float largest(std::span<const float> values, float least) {
  std::array<float, kMelLanes> peaks;
  peaks.fill(least);
  std::size_t at = 0;
  for (; at + kMelLanes <= values.size(); at += kMelLanes)
    for (std::size_t lane = 0; lane < kMelLanes; ++lane)
      peaks[lane] = values[at + lane] > peaks[lane] ? values[at + lane] : peaks[lane];
  for (; at < values.size(); ++at) peaks[0] = std::max(peaks[0], values[at]);
  return *std::max_element(peaks.begin(), peaks.end());
}

/// From log10 of power to what the model takes.
float scaled(float log_power, float maximum) {
  return (std::max(log_power, maximum - kMelDecades) + 4) * 0.25F;
}

}  // namespace

struct LogMel::Tables {
  int n_mels;
  bool keyed_tone;
  std::optional<double> target;
  std::vector<MelFilter> filters;
  const MelKernel& kernel = mel_kernels().front();

  /// Calls `take(powers, at, count)` for every kMelLanes frames of [first, first + frames): their mel powers, row-major
  /// [n_mels, kMelLanes], which it may change; how many frames precede them; and how many of them count.
  template <class Take>
  Result<void> for_each_block(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                              Take&& take) const {
    std::vector<std::int16_t> samples;
    std::vector<float> powers(static_cast<std::size_t>(n_mels * kMelLanes));
    for (std::int64_t part = 0; part < frames; part += kFramesAtOnce) {
      const std::int64_t end = std::min(part + kFramesAtOnce, frames);
      if (auto read = read_samples(recording, first + part, end - part, samples); !read) return read;
      for (std::int64_t at = part; at < end; at += kMelLanes) {
        kernel.power(filters, samples.data() + (at - part) * kMelHop, powers.data());
        take(powers, at, std::min<std::int64_t>(kMelLanes, end - at));
      }
    }
    return {};
  }

  /// log10 of the powers of frames [first, first + frames), each passed through `finish`: bin b of frame f to
  /// out[b * stride + f].
  template <class Finish>
  Result<void> logs_into(const SampleReader& recording, std::int64_t first, std::int64_t frames, float* out,
                         std::int64_t stride, Finish&& finish) const {
    return for_each_block(recording, first, frames, [&](auto& powers, std::int64_t at, std::int64_t count) {
      kernel.log10(powers.data(), std::ssize(powers));
      for (float& value : powers) value = finish(value);
      for (int bin = 0; bin < n_mels; ++bin)
        std::copy_n(powers.data() + bin * kMelLanes, count, out + bin * stride + at);
    });
  }

  /// The same, row-major [n_mels, frames].
  template <class Finish>
  Result<std::vector<float>> logs(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                                  Finish&& finish) const {
    std::vector<float> mel(static_cast<std::size_t>(n_mels * frames));
    return logs_into(recording, first, frames, mel.data(), frames, finish).map([&] { return std::move(mel); });
  }
};

LogMel::LogMel(int n_mels, bool keyed_tone, std::optional<double> target)
    : tables_(std::make_unique<Tables>(Tables{n_mels, keyed_tone, target, mel_filters(n_mels)})) {}
LogMel::~LogMel() = default;
LogMel::LogMel(LogMel&&) noexcept = default;
LogMel& LogMel::operator=(LogMel&&) noexcept = default;

int LogMel::n_mels() const {
  return tables_->n_mels;
}

bool LogMel::takes_keyed_tone() const {
  return tables_->keyed_tone;
}

std::int64_t LogMel::content_frames(const SampleReader& recording) {
  return recording.samples() / kMelHop;
}

Result<float> LogMel::maximum(const SampleReader& recording) const {
  if (tables_->keyed_tone) return 0.0F;
  // Frames that straddle the end count too; those of the padding behind them are kMelFloor itself.
  const std::int64_t frames = (recording.samples() + kMelFft / 2 - 1) / kMelHop + 1;
  std::array<float, kMelLanes> peaks;  // one per lane, because lanes compare all at once
  peaks.fill(kMelFloor);
  const auto seen = tables_->for_each_block(recording, 0, frames, [&](auto& powers, std::int64_t, std::int64_t count) {
    for (std::size_t at = 0; at < powers.size(); at += kMelLanes)
      for (std::size_t lane = 0; lane < kMelLanes; ++lane) {
        const float power = static_cast<std::int64_t>(lane) < count ? powers[at + lane] : kMelFloor;
        peaks[lane] = power > peaks[lane] ? power : peaks[lane];
      }
  });
  return seen.map([&] { return std::log10(*std::max_element(peaks.begin(), peaks.end())); });
}

Result<std::vector<float>> LogMel::window(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                                          float maximum) const {
  if (tables_->keyed_tone) return window(recording, first, frames);
  return tables_->logs(recording, first, frames, [maximum](float value) { return scaled(value, maximum); });
}

Result<std::vector<float>> LogMel::window(const SampleReader& recording, std::int64_t first,
                                          std::int64_t frames) const {
  if (tables_->keyed_tone) {
    std::vector<float> tone(static_cast<std::size_t>(n_mels() * frames));
    return window_into(recording, first, frames, tone.data(), frames).map([&](float) { return std::move(tone); });
  }
  auto mel = tables_->logs(recording, first, frames, [](float value) { return value; });
  if (!mel || mel->empty()) return mel;
  float maximum = std::log10(kMelFloor);
  for (const float value : *mel) maximum = std::max(maximum, value);
  for (float& value : *mel) value = scaled(value, maximum);
  return mel;
}

Result<KeyedPart> LogMel::read_keying(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                                      std::int64_t most) const {
  KeyedPart all{.samples = frames * kMelHop};
  if (!tables_->keyed_tone) return all;
  const auto pcm = TRY(samples_within(recording, first, frames));
  auto part = read_keyed_part(pcm, most * kMelHop, tables_->target);
  if (part.samples == std::ssize(pcm)) part.samples = all.samples;
  part.samples = std::max(part.samples / kMelHop, std::int64_t{1}) * kMelHop;
  return part;
}

Result<float> LogMel::window_into(const SampleReader& recording, std::int64_t first, std::int64_t frames, float* out,
                                  std::int64_t stride) const {
  const auto as_is = [](float value) { return value; };
  if (tables_->keyed_tone) {
    const auto tone = keyed_tone(TRY(samples_within(recording, first, frames)), tables_->target);
    TRY(tables_->logs_into(PcmSamples(tone), 0, frames, out, stride, as_is));
  } else {
    TRY(tables_->logs_into(recording, first, frames, out, stride, as_is));
  }
  const auto row = [&](int bin) { return std::span(out + bin * stride, static_cast<std::size_t>(frames)); };
  const float floor = std::log10(kMelFloor);
  float maximum = floor;
  for (int bin = 0; bin < n_mels(); ++bin) maximum = std::max(maximum, largest(row(bin), floor));
  for (int bin = 0; bin < n_mels(); ++bin)
    for (float& value : row(bin)) value = scaled(value, maximum);
  return scaled(floor, maximum);
}

}  // namespace tutti
