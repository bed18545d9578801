#include "audio/vocoder/griffin_lim.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/random/counter_random.h"

namespace tutti {
namespace {

constexpr int kLanes = FrameFourier::kFrames;
constexpr int kSpectrumUpdates = 60;
constexpr float kTiny = 1e-9F;

constexpr int kIterations = 32;
constexpr float kMomentum = 0.99F;  // momentum of the fast form, "alpha" in the paper
constexpr std::uint64_t kSeed = 0;  // seed of the phases that the search begins with

}  // namespace

/// The state of one search. Frames lie in groups of kLanes, the frames of a group side by side.
struct GriffinLim::Search {
  std::int64_t frames = 0;
  std::int64_t groups = 0;
  std::size_t group_size = 0;               // values of a group's spectra
  std::vector<float> magnitudes{};          // [groups, bins, kLanes], as all these
  std::vector<float> re{}, im{};            // spectra whose magnitudes are right
  std::vector<float> last_re{}, last_im{};  // spectra of the audio before
  std::vector<float> audio{};               // from the first frame's first sample to the last one's last
  std::vector<float> weights{};             // factor of each sample: 1 over the sum of squared windows there
};

GriffinLim::GriffinLim(VoiceMelOptions mel)
    : options_(checked(mel)),
      filters_(voice_mel_filters(options_)),
      window_(voice_window(options_)),
      fourier_(options_.n_fft) {
  weight_of_bin_.resize(static_cast<std::size_t>(fourier_.bins()));
  for (const auto& filter : filters_)
    for (std::size_t i = 0; i < filter.weights.size(); ++i)
      weight_of_bin_.at(static_cast<std::size_t>(filter.first_bin) + i) += filter.weights[i];
}

/// Mels put back on the bins that they are sums of: [n_mels] -> [bins].
void GriffinLim::spread(std::span<const float> mels, std::vector<float>& bins) const {
  bins.assign(weight_of_bin_.size(), 0);
  for (std::size_t mel = 0; mel < filters_.size(); ++mel)
    for (std::size_t i = 0; i < filters_[mel].weights.size(); ++i)
      bins[static_cast<std::size_t>(filters_[mel].first_bin) + i] += filters_[mel].weights[i] * mels[mel];
}

/// x * A^T (m / A x) / (A^T 1) keeps x positive and never adds to the divergence of m from A x (Lee and Seung 2001).
/// Least squares would leave soft bands wrong by a factor of three beside loud ones: there, only loud errors count.
void GriffinLim::magnitudes_of(std::span<const float> log_mel, std::span<float> magnitudes) const {
  thread_local std::vector<float> wanted, ratios, factors;
  wanted.resize(filters_.size());
  ratios.resize(filters_.size());
  for (std::size_t mel = 0; mel < filters_.size(); ++mel) wanted[mel] = std::exp(log_mel[mel]);
  spread(wanted, factors);
  for (std::size_t bin = 0; bin < magnitudes.size(); ++bin)
    magnitudes[bin] = weight_of_bin_[bin] > 0 ? factors[bin] / (weight_of_bin_[bin] * weight_of_bin_[bin]) : 0;
  for (int update = 0; update < kSpectrumUpdates; ++update) {
    for (std::size_t mel = 0; mel < filters_.size(); ++mel) {
      const auto& filter = filters_[mel];
      float sum = kTiny;
      for (std::size_t i = 0; i < filter.weights.size(); ++i)
        sum += filter.weights[i] * magnitudes[static_cast<std::size_t>(filter.first_bin) + i];
      ratios[mel] = wanted[mel] / sum;
    }
    spread(ratios, factors);
    for (std::size_t bin = 0; bin < magnitudes.size(); ++bin)
      if (weight_of_bin_[bin] > 0) magnitudes[bin] *= factors[bin] / weight_of_bin_[bin];
  }
}

/// Adds up the frames that the spectra are of.
void GriffinLim::audio_from(Search& search) const {
  thread_local std::vector<float> samples;
  samples.resize(window_.size() * kLanes);
  std::ranges::fill(search.audio, 0.0F);
  for (std::int64_t group = 0; group < search.groups; ++group) {
    const auto first = static_cast<std::size_t>(group) * search.group_size;
    fourier_.inverse(search.re.data() + first, search.im.data() + first, samples.data());
    const auto lanes = std::min<std::int64_t>(kLanes, search.frames - group * kLanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      float* to = search.audio.data() + (group * kLanes + lane) * options_.hop;
      const float* from = samples.data() + lane;
      for (std::size_t i = 0; i < window_.size(); ++i) to[i] += window_[i] * from[i * kLanes];
    }
  }
  for (std::size_t i = 0; i < search.audio.size(); ++i) search.audio[i] *= search.weights[i];
}

/// The spectra of the audio, with the magnitudes that are wanted; moved on beyond their change by `momentum`.
void GriffinLim::spectra_from(Search& search, float momentum) const {
  thread_local std::vector<float> samples, re, im;
  samples.assign(window_.size() * kLanes, 0);
  re.resize(search.group_size);
  im.resize(search.group_size);
  for (std::int64_t group = 0; group < search.groups; ++group) {
    const auto lanes = std::min<std::int64_t>(kLanes, search.frames - group * kLanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const float* from = search.audio.data() + (group * kLanes + lane) * options_.hop;
      float* to = samples.data() + lane;
      for (std::size_t i = 0; i < window_.size(); ++i) to[i * kLanes] = window_[i] * from[i];
    }
    fourier_.forward(samples.data(), re.data(), im.data());
    const auto first = static_cast<std::size_t>(group) * search.group_size;
    for (std::size_t i = 0; i < search.group_size; ++i) {
      const float x = re[i] - momentum * search.last_re[first + i], y = im[i] - momentum * search.last_im[first + i];
      const float scale = search.magnitudes[first + i] / std::sqrt(x * x + y * y + kTiny * kTiny);
      search.last_re[first + i] = re[i];
      search.last_im[first + i] = im[i];
      search.re[first + i] = x * scale;
      search.im[first + i] = y * scale;
    }
  }
}

GriffinLim::Search GriffinLim::new_search(std::int64_t frames) const {
  const auto bins = static_cast<std::size_t>(fourier_.bins()), size = window_.size();
  Search search{.frames = frames, .groups = (frames + kLanes - 1) / kLanes, .group_size = bins * kLanes};
  const auto values = static_cast<std::size_t>(search.groups) * search.group_size;
  for (auto* array : {&search.magnitudes, &search.re, &search.im, &search.last_re, &search.last_im})
    array->assign(values, 0);
  const auto hop = static_cast<std::size_t>(options_.hop);
  search.audio.resize((static_cast<std::size_t>(frames) - 1) * hop + size);
  search.weights.assign(search.audio.size(), 0);
  for (std::size_t frame = 0; std::cmp_less(frame, frames); ++frame)
    for (std::size_t i = 0; i < size; ++i) search.weights[frame * hop + i] += window_[i] * window_[i];
  const float least = 0.01F * *std::ranges::max_element(search.weights);  // the ends, where hardly any window reaches
  for (float& weight : search.weights) weight = 1 / std::max(weight, least);
  return search;
}

std::vector<float> GriffinLim::audio_of(std::span<const float> log_mel, std::int64_t frames) const {
  if (frames <= 0) return {};
  auto search = new_search(frames);
  std::vector<float> one(static_cast<std::size_t>(fourier_.bins()));
  CounterRandom random({kSeed, digest("phases")});
  for (std::size_t frame = 0; std::cmp_less(frame, frames); ++frame) {
    magnitudes_of(log_mel.subspan(frame * filters_.size(), filters_.size()), one);
    const auto first = frame / kLanes * search.group_size + frame % kLanes;
    for (std::size_t bin = 0; bin < one.size(); ++bin) {
      const double turn = random.uniform(-std::numbers::pi, std::numbers::pi);
      search.magnitudes[first + bin * kLanes] = one[bin];
      search.re[first + bin * kLanes] = one[bin] * static_cast<float>(std::cos(turn));
      search.im[first + bin * kLanes] = one[bin] * static_cast<float>(std::sin(turn));
    }
  }
  const float momentum = kMomentum / (1 + kMomentum);
  for (int i = 0; i < kIterations; ++i) {
    audio_from(search);
    spectra_from(search, i == 0 ? 0 : momentum);
  }
  audio_from(search);
  const auto begin = search.audio.begin() + (options_.n_fft - options_.hop) / 2;
  return {begin, begin + frames * options_.hop};
}

}  // namespace tutti
