#include "train/classifier/augmentation.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "base/random/counter_random.h"

namespace tutti {
namespace {

// Columns of a row's draws; two more for every mask: its first bin or frame, and how many.
constexpr std::int64_t kGain = 0, kShift = 1, kNoise = 2, kOwnShare = 3, kMasks = 4;
constexpr double kWidestMask = 0.2;
constexpr float kNoNoise = 1000;  // decibels between audio and noise
constexpr double kUsualGain = 6, kUsualShift = 0.1;

double decided(double requested, bool is_clip, double usual) {
  return requested >= 0 ? requested : is_clip ? usual : 0;
}

/// Beta(a, a) for 0 < a <= 1 by Jöhnk's method.
double symmetric_beta(double a, CounterRandom& random) {
  for (;;) {
    const double x = std::pow(random.uniform(), 1 / a), y = std::pow(random.uniform(), 1 / a);
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

at::Tensor decibels_of(const at::Tensor& powers) {
  constexpr double kLeast = 1e-20;
  return 10 * powers.clamp_min(kLeast).log10();
}

at::Tensor powers_of(const at::Tensor& decibels) {
  return at::exp(decibels * (std::log(10.0) / 10));
}

/// Spectrograms of white noise as this geometry sees it: [segments, n_mels, frames] float32 in decibels.
at::Tensor white_noise(const AudioGeometry& geometry) {
  constexpr std::int64_t kEnoughFrames = 512;
  const ClipFeatureMaker maker(geometry);
  CounterRandom random({digest("white noise")});
  std::vector<at::Tensor> clips;
  std::vector<float> samples(static_cast<std::size_t>(geometry.clip_samples));
  for (std::int64_t frames = 0; frames < kEnoughFrames; frames += geometry.segments() * geometry.frames()) {
    for (auto& sample : samples) sample = static_cast<float>(0.1 * random.normal());
    auto made = maker.compute(samples);
    clips.push_back(at::from_blob(made.mel.data(), {geometry.segments(), geometry.mel.n_mels, geometry.frames()},
                                  at::TensorOptions(at::kHalf))
                        .to(at::kFloat));
  }
  return at::cat(clips);
}

}  // namespace

ClassifierAugmentation::ClassifierAugmentation(const ClassifierRecipe& recipe, const AudioGeometry& geometry,
                                               at::Device device)
    : n_mels_(geometry.mel.n_mels),
      frames_(geometry.frames()),
      settings_(recipe.augmentation),
      seed_(recipe.arithmetic.seed) {
  const bool is_clip = geometry.name == "clip";
  settings_.gain_db = decided(settings_.gain_db, is_clip, kUsualGain);
  shift_ = static_cast<double>(frames_) * decided(settings_.shift_share, is_clip, kUsualShift);
  if (!settings_.use_specaugment) settings_.mask_bands = settings_.mask_stretches = 0;
  if (settings_.noise_share <= 0) return;
  const c10::AutoGradMode no_gradients(false);
  const auto noise = white_noise(geometry);
  const auto level = decibels_of(powers_of(noise).mean());
  noise_mean_ = (noise.mean(at::IntArrayRef({0, 2})) - level).unsqueeze(1).to(device);
  noise_deviation_ = noise.transpose(0, 1).reshape({n_mels_, -1}).std(1).unsqueeze(1).to(device);
}

bool ClassifierAugmentation::is_off() const {
  return settings_.gain_db <= 0 && shift_ <= 0 && settings_.noise_share <= 0 && settings_.mixup <= 0 &&
         settings_.mask_bands + settings_.mask_stretches == 0;
}

void ClassifierAugmentation::draw_row(std::uint64_t epoch, std::uint64_t row, float* into) const {
  CounterRandom random({seed_, epoch, row, digest("augmentation")});
  into[kGain] = static_cast<float>(random.uniform(-settings_.gain_db, settings_.gain_db));
  into[kShift] = static_cast<float>(std::lround(random.uniform(-shift_, shift_)));
  for (std::int32_t mask = 0; mask < settings_.mask_bands + settings_.mask_stretches; ++mask) {
    const auto size = mask < settings_.mask_bands ? n_mels_ : frames_;
    const auto count = random.below(static_cast<std::int64_t>(kWidestMask * static_cast<double>(size)) + 1);
    into[kMasks + 2 * mask] = static_cast<float>(random.below(size - count + 1));
    into[kMasks + 2 * mask + 1] = static_cast<float>(count);
  }
  const bool is_noisy = settings_.noise_share > 0 && random.chance(settings_.noise_share);
  into[kNoise] =
      is_noisy ? static_cast<float>(random.uniform(settings_.noise_least_db, settings_.noise_most_db)) : kNoNoise;
  into[kOwnShare] = settings_.mixup > 0 ? static_cast<float>(symmetric_beta(settings_.mixup, random)) : 1;
}

std::vector<at::Tensor> ClassifierAugmentation::drawn(const Batch& batch) const {
  const auto rows = batch.size();
  auto draws =
      at::empty({rows, kMasks + 2 * (settings_.mask_bands + settings_.mask_stretches)}, at::TensorOptions(at::kFloat));
  auto* row = draws.mutable_data_ptr<float>();
  for (const auto index : batch.rows()) {
    draw_row(static_cast<std::uint64_t>(batch.epoch), static_cast<std::uint64_t>(index), row);
    row += draws.size(1);
  }
  std::vector<at::Tensor> all{draws};
  if (settings_.noise_share > 0) {
    auto generator =
        at::detail::createCPUGenerator(mixed({seed_, static_cast<std::uint64_t>(batch.index), digest("noise")}));
    all.push_back(at::empty({rows, n_mels_, frames_}, at::TensorOptions(at::kFloat)).normal_(0, 1, generator));
  }
  return all;
}

/// Adds white noise by power, so many decibels below the mean power of its row.
at::Tensor ClassifierAugmentation::with_noise(const at::Tensor& features, const std::vector<at::Tensor>& draws) const {
  const auto powers = powers_of(features);
  const auto level = decibels_of(powers.mean(at::IntArrayRef({1, 2}), /*keepdim=*/true));
  const auto below = draws[0].select(1, kNoise).view({-1, 1, 1});
  const auto noise = level - below + noise_mean_ + noise_deviation_ * draws[1];
  return decibels_of(powers + powers_of(noise));
}

at::Tensor ClassifierAugmentation::changed(const at::Tensor& features, const std::vector<at::Tensor>& draws) const {
  const auto column = [&](std::int64_t i) { return draws[0].select(1, i).view({-1, 1, 1}); };
  auto x = features;
  if (shift_ > 0) {
    const auto frames = at::arange(frames_, features.options()).view({1, 1, -1});
    const auto from = (frames - column(kShift)).clamp(0, static_cast<double>(frames_ - 1)).to(at::kLong);
    x = x.gather(2, from.expand_as(features));
  }
  if (settings_.noise_share > 0) x = with_noise(x, draws);
  return x + column(kGain);
}

at::Tensor ClassifierAugmentation::masked(at::Tensor features, const std::vector<at::Tensor>& draws) const {
  const auto mels = at::arange(n_mels_, features.options()).view({1, -1, 1});
  const auto frames = at::arange(frames_, features.options()).view({1, 1, -1});
  const auto column = [&](std::int64_t i) { return draws[0].select(1, i).view({-1, 1, 1}); };
  for (std::int32_t mask = 0; mask < settings_.mask_bands + settings_.mask_stretches; ++mask) {
    const auto& axis = mask < settings_.mask_bands ? mels : frames;
    const auto first = column(kMasks + 2 * mask), count = column(kMasks + 2 * mask + 1);
    features = features.masked_fill(at::logical_and(axis >= first, axis < first + count), 0);
  }
  return features;
}

at::Tensor ClassifierAugmentation::own_shares(const std::vector<at::Tensor>& draws) const {
  return draws[0].select(1, kOwnShare);
}

}  // namespace tutti
