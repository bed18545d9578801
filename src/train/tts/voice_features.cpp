#include "train/tts/voice_features.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/units.h"
#include "train/gpu_features.h"

namespace tutti {
namespace {

constexpr double kLeastSquare = 1e-9;  // under the root of a magnitude, as VoiceMel has it

at::Tensor column_of(const std::vector<std::int64_t>& lengths, at::Device device) {
  return at::tensor(lengths).to(device).unsqueeze(1);
}

/// Every row mirrored at both of its ends, so that so many frames see samples: [rows, samples].
at::Tensor mirrored(const at::Tensor& audio, const at::Tensor& lengths, const VoiceMelOptions& options,
                    std::int64_t frames) {
  const std::int64_t lead = (options.n_fft - options.hop) / 2, seen = (frames - 1) * options.hop + options.n_fft;
  const auto position = (at::arange(seen, lengths.options()) - lead).unsqueeze(0);
  const auto period = (2 * (lengths - 1)).clamp_min(1);
  const auto turn = position.remainder(period);
  const auto index = at::where(turn < lengths, turn, period - turn);
  return audio.gather(1, index);
}

}  // namespace

at::Tensor voice_filter_matrix(const VoiceMelOptions& options) {
  auto matrix = at::zeros({options.n_fft / 2 + 1, options.n_mels}, at::kDouble);
  auto values = matrix.accessor<double, 2>();
  const auto filters = voice_mel_filters(options);
  for (std::int64_t mel = 0; mel < options.n_mels; ++mel) {
    std::int64_t bin = filters[static_cast<std::size_t>(mel)].first_bin;
    for (const float weight : filters[static_cast<std::size_t>(mel)].weights) values[bin++][mel] = weight;
  }
  return matrix;
}

DeviceVoiceMel::DeviceVoiceMel(const VoiceMelOptions& options, at::Device device)
    : options_(checked(options)),
      window_(at::tensor(voice_window(options)).to(device)),
      filters_(voice_filter_matrix(options).to(device)) {}

at::Tensor DeviceVoiceMel::operator()(const at::Tensor& audio, const std::vector<std::int64_t>& lengths,
                                      std::int64_t frames) const {
  const auto whole = mirrored(audio, column_of(lengths, audio.device()), options_, frames);
  const auto bins = at::view_as_real(at::fft_rfft(whole.unfold(1, options_.n_fft, options_.hop) * window_));
  const auto magnitude = (bins.square().sum(-1) + kLeastSquare).sqrt();  // [rows, frames, n_fft / 2 + 1]
  return at::matmul(magnitude.to(at::kDouble), filters_).clamp_min(VoiceMel::kLeast).log().to(at::kFloat);
}

Augmentation augmentation_of(const TtsRecipe& r, Hertz rate) {
  Augmentation augmentation{.speed_share = r.augmentation.speed_share,
                            .noise_share = r.augmentation.noise_share,
                            .noise_db = {r.augmentation.noise_least_db, r.augmentation.noise_most_db},
                            .room_share = r.augmentation.room_share};
  // Echoes are drawn in samples at the rate of recognisers.
  const double stretch = static_cast<double>(rate.value) / kModelRate.value;
  augmentation.room_seconds.least *= stretch;
  augmentation.room_seconds.most *= stretch;
  return augmentation;
}

VoiceFeatures::VoiceFeatures(at::Device device, std::shared_ptr<const VoiceSet> set,
                             std::shared_ptr<const VoiceWaveforms> waveforms, const TtsRecipe& recipe,
                             const VoiceModel& model)
    : device_(device),
      set_(std::move(set)),
      waveforms_(std::move(waveforms)),
      augmentation_(augmentation_of(recipe, set_->format().mel.rate)),
      seed_(recipe.arithmetic.seed),
      mel_(set_->format().mel, device),
      mean_(at::tensor(model.mean).to(device)),
      deviation_(model.deviation) {}

AudioChanges VoiceFeatures::changes_of(std::int64_t clip, std::int64_t epoch) const {
  const auto key =
      mixed({seed_, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(clip), digest("voice audio")});
  double speed = speed_of(augmentation_, key);
  if (samples_at_speed(waveforms_->samples(clip), speed) / set_->format().mel.hop < set_->symbols(clip)) speed = 1;
  return audio_changes(augmentation_, speed, key);
}

VoiceSpectrograms VoiceFeatures::operator()(std::span<const std::int64_t> clips, std::int64_t epoch,
                                            std::int64_t frames, std::int64_t multiple) const {
  std::vector<AudioChanges> changes;
  AudioRows rows;
  std::int64_t longest = 1;
  for (const auto clip : clips) {
    changes.push_back(changes_of(clip, epoch));
    rows.lengths.push_back(waveforms_->samples(clip));
    longest = std::max(longest, rows.lengths.back());
  }
  const auto packed =
      at::zeros({std::ssize(clips), longest}, at::TensorOptions(at::kFloat).pinned_memory(device_.is_cuda()));
  auto* to = packed.mutable_data_ptr<float>();
  for (const auto clip : clips) {
    const auto audio = waveforms_->clip(clip);
    if (!audio) throw std::runtime_error(audio.error().text());
    std::ranges::copy(*audio, to);
    to += longest;
  }
  rows.audio = packed.to(device_, /*non_blocking=*/true);
  std::vector<const AudioChanges*> drawn;
  for (const auto& one : changes) drawn.push_back(&one);
  rows = changed_unrounded(std::move(rows), drawn);
  VoiceSpectrograms made;
  for (const auto samples : rows.lengths) made.frames.push_back(samples / set_->format().mel.hop);
  if (frames == 0) frames = rounded_up(std::ranges::max(made.frames), multiple);
  const auto is_own = at::arange(frames, at::device(device_).dtype(at::kLong)).unsqueeze(0) <
                      column_of(made.frames, device_);  // [rows, frames]
  const auto mel = (mel_(rows.audio, rows.lengths, frames) - mean_) / deviation_;
  made.mel = mel.masked_fill(is_own.logical_not().unsqueeze(2), 0);
  return made;
}

}  // namespace tutti
