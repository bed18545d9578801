#include "train/gpu_features.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "audio/augment/effects.h"
#include "audio/mel/log_mel.h"
#include "audio/mel/mel_kernel.h"
#include "base/numbers.h"
#include "base/units.h"

namespace tutti {
namespace {

at::Tensor filter_matrix(int n_mels) {
  auto matrix = at::zeros({kMelBins, n_mels}, at::kDouble);
  auto values = matrix.accessor<double, 2>();
  const auto filters = mel_filters(n_mels);
  for (std::int64_t mel = 0; mel < n_mels; ++mel) {
    std::int64_t bin = filters[static_cast<std::size_t>(mel)].first_bin;
    for (const float weight : filters[static_cast<std::size_t>(mel)].weights) values[bin++][mel] = weight;
  }
  return matrix;
}

/// Mirrored at its start, and with zeros behind it, so that so many frames centred on every hop see samples.
at::Tensor padded(const at::Tensor& audio, std::int64_t frames) {
  constexpr std::int64_t kEdge = kMelFft / 2;
  const auto wanted = (frames - 1) * kMelHop + kMelFft;
  const auto filled = at::constant_pad_nd(audio, {0, std::max<std::int64_t>(wanted - kEdge - audio.size(1), 1)});
  const auto mirrored = filled.narrow(1, 1, kEdge).flip(1);
  return at::cat({mirrored, filled}, 1).narrow(1, 0, wanted);
}

/// What the model takes for a log10 of power, under a row's maximum.
at::Tensor scaled(const at::Tensor& log_power, const at::Tensor& maximum) {
  return (at::maximum(log_power, maximum - kMelDecades) + 4) * 0.25;
}

}  // namespace

DeviceLogMel::DeviceLogMel(int n_mels, at::Device device)
    : window_(at::hann_window(kMelFft, /*periodic=*/true, at::device(device).dtype(at::kFloat))),
      filters_(filter_matrix(n_mels).to(device)) {}

at::Tensor DeviceLogMel::operator()(const at::Tensor& audio, std::int64_t sounding, std::int64_t frames) const {
  const auto seen = padded(audio, sounding).unfold(1, kMelFft, kMelHop) * window_;  // [rows, sounding, kMelFft]
  const auto power = at::abs(at::fft_rfft(seen)).square().to(at::kDouble);          // [rows, sounding, kMelBins]
  const auto mel = at::matmul(power, filters_).clamp_min(kMelFloor).log10().transpose(1, 2);
  const auto maximum = mel.amax({1, 2}, /*keepdim=*/true);
  const auto real = scaled(mel.narrow(2, 0, std::min(sounding, frames)), maximum).to(at::kFloat);
  if (real.size(2) == frames) return real.contiguous();
  const auto silence = scaled(at::full_like(maximum, std::log10(kMelFloor)), maximum).to(at::kFloat);
  return at::cat({real, silence.expand({real.size(0), real.size(1), frames - real.size(2)})}, 2);
}

namespace {

using Changes = std::vector<const AudioChanges*>;

constexpr double kLeast = -32768, kMost = 32767;  // range of 16-bit PCM

/// Transforms take whole seconds: every new size costs cuFFT a plan, and some sizes are slow.
std::int64_t size_of_transform(std::int64_t samples) {
  return rounded_up(samples, kModelRate.value);
}

/// [rows, size] bool: which positions of each row are before its length.
at::Tensor offsets_before(const std::vector<std::int64_t>& lengths, std::int64_t size, at::Device device) {
  return at::arange(size, at::device(device).dtype(at::kLong)).unsqueeze(0) <
         at::tensor(lengths).to(device).unsqueeze(1);
}

/// Rows for which something was drawn.
std::vector<std::int64_t> rows_where(const Changes& changes, const std::function<bool(const AudioChanges&)>& is_so) {
  std::vector<std::int64_t> rows;
  for (std::size_t row = 0; row < changes.size(); ++row)
    if (is_so(*changes[row])) rows.push_back(static_cast<std::int64_t>(row));
  return rows;
}

/// Mean square of each row's own PCM samples: [rows, 1] float64. What is behind them is zero.
at::Tensor power_of(const at::Tensor& audio, const at::Tensor& lengths) {
  return audio.to(at::kDouble).square().sum(1, /*keepdim=*/true) / lengths.clamp_min(1);
}

/// What brings each row from one power to another; 1 where there is none.
at::Tensor scale_between(const at::Tensor& has, const at::Tensor& wanted) {
  return at::where(has > 0, at::sqrt(wanted / has), at::ones_like(has)).to(at::kFloat);
}

/// One row at another speed, as at_speed does it: [samples] float32 on its device.
at::Tensor row_at_speed(const at::Tensor& audio, double speed) {
  const auto size = samples_at_speed(audio.size(0), speed);
  if (size == 0) return audio.narrow(0, 0, 0);
  const auto taps = at::tensor(speed_taps(speed)).reshape({kSpeedPhases + 1, kSpeedTaps}).to(audio.device());
  const auto places = at::arange(size, at::device(audio.device()).dtype(at::kDouble)) * speed;
  const auto whole = places.floor();
  const auto phases = ((places - whole) * kSpeedPhases + 0.5).to(at::kLong);
  const auto seen = at::constant_pad_nd(audio, {kSpeedTaps / 2 - 1, kSpeedTaps}).unfold(0, kSpeedTaps, 1);
  return (seen.index_select(0, whole.to(at::kLong)) * taps.index_select(0, phases)).sum(1);
}

void change_speed(AudioRows& rows, const Changes& changes) {
  if (std::ranges::all_of(changes, [](const AudioChanges* it) { return it->speed == 1; })) return;
  std::vector<at::Tensor> made;
  std::int64_t longest = 1;
  for (std::size_t row = 0; row < changes.size(); ++row) {
    const auto own = rows.audio[static_cast<std::int64_t>(row)].narrow(0, 0, rows.lengths[row]);
    made.push_back(changes[row]->speed == 1 ? own : row_at_speed(own, changes[row]->speed));
    rows.lengths[row] = made.back().size(0);
    longest = std::max(longest, rows.lengths[row]);
  }
  auto audio = at::zeros({static_cast<std::int64_t>(made.size()), longest}, rows.audio.options());
  for (std::size_t row = 0; row < made.size(); ++row)
    audio[static_cast<std::int64_t>(row)].narrow(0, 0, rows.lengths[row]).copy_(made[row]);
  rows.audio = std::move(audio);
}

/// The rows that something was drawn for, taken out of all of them and put back when they are changed.
class SomeRows {
 public:
  SomeRows(AudioRows& all, const Changes& changes, const std::function<bool(const AudioChanges&)>& is_so)
      : all_(all), rows_(rows_where(changes, is_so)) {
    if (rows_.empty()) return;
    const auto device = all.audio.device();
    std::vector<std::int64_t> sizes;
    for (const auto row : rows_) sizes.push_back(all.lengths[static_cast<std::size_t>(row)]);
    index_ = at::tensor(rows_).to(device);
    audio = all.audio.index_select(0, index_);
    lengths = at::tensor(sizes).to(device).unsqueeze(1);
    is_own_ = offsets_before(sizes, audio.size(1), device);
  }

  bool empty() const { return rows_.empty(); }
  const std::vector<std::int64_t>& rows() const { return rows_; }
  /// Zeros behind each row's own samples.
  at::Tensor own(const at::Tensor& values) const { return values * is_own_; }
  void put_back() { all_.audio.index_copy_(0, index_, own(audio)); }

  at::Tensor audio{};    // [some, samples] float32
  at::Tensor lengths{};  // [some, 1]

 private:
  AudioRows& all_;
  std::vector<std::int64_t> rows_;
  at::Tensor index_{}, is_own_{};
};

/// All echoes at once, as a product of spectra.
void add_responses(AudioRows& all, const Changes& changes) {
  SomeRows some(all, changes, [](const AudioChanges& it) { return !it.echoes.empty(); });
  if (some.empty()) return;
  std::int64_t latest = 0;
  for (const auto row : some.rows())
    for (const Echo& echo : changes[static_cast<std::size_t>(row)]->echoes) latest = std::max(latest, echo.delay);
  auto responses = at::zeros({std::ssize(some.rows()), latest + 1}, at::kFloat);
  auto gains = responses.accessor<float, 2>();
  for (std::int64_t i = 0; i < std::ssize(some.rows()); ++i) {
    gains[i][0] = 1;
    const auto row = static_cast<std::size_t>(some.rows()[static_cast<std::size_t>(i)]);
    for (const Echo& echo : changes[row]->echoes) gains[i][echo.delay] += echo.gain;
  }
  const auto before = power_of(some.audio, some.lengths);
  const auto size = size_of_transform(some.audio.size(1) + latest + 1);
  const auto spectrum = at::fft_rfft(some.audio, size) * at::fft_rfft(responses.to(some.audio.device()), size);
  some.audio = some.own(at::fft_irfft(spectrum, size).narrow(1, 0, some.audio.size(1)));
  some.audio = some.audio * scale_between(power_of(some.audio, some.lengths), before);
  some.put_back();
}

/// White noise made to fall by 3 dB an octave.
at::Tensor pink(const at::Tensor& white) {
  const auto size = size_of_transform(white.size(1));
  const auto spectrum = at::fft_rfft(white, size);
  const auto bins = at::arange(spectrum.size(1), white.options()).clamp_min(1);
  return at::fft_irfft(spectrum * at::rsqrt(bins), size).narrow(1, 0, white.size(1));
}

/// One of our own: the device's is training's, which seeds it meanwhile.
at::Generator generator_for(at::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator();
  return at::globalContext().defaultGenerator(device).clone();
}

void add_noises(AudioRows& all, const Changes& changes) {
  SomeRows some(all, changes, [](const AudioChanges& it) { return it.noise.has_value(); });
  if (some.empty()) return;
  auto generator = generator_for(some.audio.device());
  auto noise = at::empty_like(some.audio);
  std::vector<double> shares;
  for (std::size_t i = 0; i < some.rows().size(); ++i) {
    const auto& drawn = *changes[static_cast<std::size_t>(some.rows()[i])]->noise;
    generator.set_current_seed(drawn.key);
    auto row = noise[static_cast<std::int64_t>(i)];
    row.normal_(0, 1, generator);
    if (drawn.is_pink) row.copy_(pink(row.unsqueeze(0)).squeeze(0));
    shares.push_back(std::pow(10, -drawn.decibels / 10));
  }
  noise = some.own(noise);
  const auto wanted =
      power_of(some.audio, some.lengths) * at::tensor(shares, at::kDouble).to(noise.device()).unsqueeze(1);
  some.audio = some.audio + noise * scale_between(power_of(noise, some.lengths), wanted);
  some.put_back();
}

void change_gains(AudioRows& all, const Changes& changes) {
  SomeRows some(all, changes, [](const AudioChanges& it) { return it.gain_db.has_value(); });
  if (some.empty()) return;
  std::vector<float> gains;
  for (const auto row : some.rows())
    gains.push_back(static_cast<float>(std::pow(10, *changes[static_cast<std::size_t>(row)]->gain_db / 20)));
  const auto requested_gain = at::tensor(gains).to(some.audio.device()).unsqueeze(1);
  const auto headroom = (kMost / some.audio.abs().amax(1, /*keepdim=*/true)).clamp_min(1);  // infinite in silence
  some.audio = some.audio * at::minimum(requested_gain, headroom);
  some.put_back();
}

bool mask_nothing(const std::vector<const SpectrumMasks*>& masks) {
  return std::ranges::all_of(masks, [](const SpectrumMasks* it) { return it->empty(); });
}

}  // namespace

AudioRows changed_unrounded(AudioRows rows, const Changes& changes) {
  change_speed(rows, changes);
  add_responses(rows, changes);
  add_noises(rows, changes);
  return rows;
}

AudioRows changed_on_device(AudioRows rows, const Changes& changes) {
  rows = changed_unrounded(std::move(rows), changes);
  change_gains(rows, changes);
  rows.audio = rows.audio.clamp(kLeast, kMost).round();
  return rows;
}

at::Tensor masked_with(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                       const std::vector<const SpectrumMasks*>& masks, const at::Tensor& means) {
  if (mask_nothing(masks)) return mel;
  auto bands = at::zeros({mel.size(0), mel.size(1), 1}, at::kBool);
  auto stretches = at::zeros({mel.size(0), 1, mel.size(2)}, at::kBool);
  for (std::int64_t row = 0; row < mel.size(0); ++row) {
    const auto& own = *masks[static_cast<std::size_t>(row)];
    for (const MaskedSpan& span : own.bands) bands[row].narrow(0, span.first, span.count).fill_(true);
    for (const MaskedSpan& span : own.stretches) stretches[row].narrow(1, span.first, span.count).fill_(true);
  }
  const auto device = mel.device();
  const auto is_real = offsets_before(real, mel.size(2), device).unsqueeze(1);  // [rows, 1, frames]
  return at::where((bands.to(device) | stretches.to(device)) & is_real, means, mel);
}

at::Tensor masked_on_device(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                            const std::vector<const SpectrumMasks*>& masks) {
  if (mask_nothing(masks)) return mel;
  const auto is_real = offsets_before(real, mel.size(2), mel.device()).unsqueeze(1);
  const auto values = at::tensor(real).to(mel.device()).reshape({-1, 1, 1}) * mel.size(1);
  const auto mean = (mel * is_real).to(at::kDouble).sum({1, 2}, /*keepdim=*/true) / values;
  return masked_with(mel, real, masks, mean.to(at::kFloat));
}

namespace {

/// Sizes of transforms are multiples of it: every new size costs cuFFT a plan.
constexpr std::int64_t kFramesTogether = 50;

/// All rows in one piece of (on a GPU's host: pinned) memory, on their way to the device.
AudioRows uploaded(const Batch& batch, at::Device device) {
  AudioRows rows;
  std::int64_t longest = 1;
  for (const BatchAudio& audio : batch.clips()) {
    rows.lengths.push_back(std::ssize(audio.pcm));
    longest = std::max(longest, rows.lengths.back());
  }
  const auto options = at::TensorOptions(at::kShort).pinned_memory(device.is_cuda());
  const auto packed = at::zeros({batch.size(), longest}, options);
  auto* to = packed.data_ptr<std::int16_t>();
  for (const BatchAudio& audio : batch.clips()) {
    std::ranges::copy(audio.pcm, to);
    to += longest;
  }
  rows.audio = packed.to(device, /*non_blocking=*/true).to(at::kFloat);
  return rows;
}

}  // namespace

at::Tensor DeviceFeatures::operator()(const Batch& batch) const {
  std::vector<const AudioChanges*> changes;
  std::vector<const SpectrumMasks*> masks;
  std::vector<std::int64_t> real;
  for (const BatchAudio& audio : batch.clips()) {
    changes.push_back(&audio.changes);
    masks.push_back(&audio.masks);
  }
  for (const BatchSample& sample : batch.samples) real.push_back(sample.frames);
  const auto rows = changed_on_device(uploaded(batch, device_), changes);
  const auto sounding = rounded_up(*std::ranges::max_element(real) + kStraddlingFrames, kFramesTogether);
  return masked_on_device(log_mel_(rows.audio / 32768, sounding, batch.frames), real, masks);
}

}  // namespace tutti
