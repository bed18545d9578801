#include "audio/channel_mix.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/field_names.h"

namespace tutti {
namespace {

/// FFmpeg's defaults, but for the LFE channel, which its default leaves out.
constexpr double kCentre = std::numbers::sqrt2 / 2, kSurround = std::numbers::sqrt2 / 2, kLfe = 1;
constexpr double kNothing = 1e-4;

ChannelMix average(std::size_t channels) {
  return {std::vector<double>(channels, 1.0 / static_cast<double>(channels)), channels <= 2};
}

bool has_lfe(const AVChannelLayout& layout) {
  return (layout.u.mask & (AV_CH_LOW_FREQUENCY | AV_CH_LOW_FREQUENCY_2)) != 0;
}

}  // namespace

Result<ChannelMix> channel_mix(const ResamplerApi& api, const AVChannelLayout& layout, const AudioChoice& choice) {
  const auto channels = static_cast<std::size_t>(layout.nb_channels);
  if (choice.channel > layout.nb_channels)
    return fail(Fault::unsupported,
                "has no channel " + std::to_string(choice.channel) + ": expected " + field("channel") + " 1 to " +
                    std::to_string(channels) + ", or mix",
                "Name another channel, or leave " + field("channel") + " out");
  if (choice.channel > 0) {
    ChannelMix one{std::vector<double>(channels, 0.0), channels == 1};
    one.weights[static_cast<std::size_t>(choice.channel) - 1] = 1;
    return one;
  }
  if (channels == 1 || layout.order != AV_CHANNEL_ORDER_NATIVE) return average(channels);  // native: at most 64
  // libswresample normalises a matrix of 64 x 64 values (SWR_CH_MAX), however few channels there are.
  constexpr std::size_t kMostChannels = 64;
  ChannelMix mix{std::vector<double>(kMostChannels * kMostChannels, 0.0), true};
  constexpr AVChannelLayout kMono = AV_CHANNEL_LAYOUT_MONO;
  const int code = api.swr_build_matrix2(&layout, &kMono, kCentre, kSurround, kLfe, 1.0, 0.0, mix.weights.data(),
                                         kMostChannels, AV_MATRIX_ENCODING_NONE, nullptr);
  mix.weights.resize(channels);
  if (code < 0) {
    mix = average(channels);
    mix.is_usual = false;
    return mix;
  }
  const double most = std::ranges::max(mix.weights);
  const bool leaves_out = std::ranges::any_of(mix.weights, [](double w) { return std::abs(w) < kNothing; });
  mix.is_usual = !leaves_out && !has_lfe(layout);
  if (!leaves_out) return mix;
  for (double& weight : mix.weights)
    if (std::abs(weight) < kNothing) weight = most > kNothing ? most * kSurround : 1;
  const double sum = std::reduce(mix.weights.begin(), mix.weights.end());
  if (sum > 1)
    for (double& weight : mix.weights) weight /= sum;
  return mix;
}

}  // namespace tutti
