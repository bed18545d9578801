#include "model/speakers/segmentation.h"

#include <ATen/ATen.h>

#include <string>

#include "base/try.h"
#include "model/speakers/named_tensors.h"

namespace tutti {
namespace {

constexpr std::int64_t kFilters = 80, kTaps = 251, kHalf = kTaps / 2, kChannels = 60, kHidden = 128;
constexpr double kLeak = 0.01;

/// The bank of band-pass filters of SincNet: 40 even ones, then 40 odd ones of the same bands.
at::Tensor sinc_filters(NamedTensors& tensors) {
  const std::string name = "sincnet.conv1d.0.filterbank.";
  const auto low_hz = tensors.take(name + "low_hz_", {kFilters / 2, 1});
  const auto band_hz = tensors.take(name + "band_hz_", {kFilters / 2, 1});
  const auto window = tensors.take(name + "window_", {kHalf});
  const auto n = tensors.take(name + "n_", {1, kHalf});
  constexpr double kLowest = 50, kNarrowest = 50, kHighest = 8000;
  const auto low = kLowest + low_hz.abs();
  const auto high = at::clamp(low + kNarrowest + band_hz.abs(), kLowest, kHighest);
  const auto band = (high - low).select(1, 0);
  const auto low_phase = at::matmul(low, n), high_phase = at::matmul(high, n);
  const auto half_n = n / 2;
  const auto even = (high_phase.sin() - low_phase.sin()) / half_n * window;
  const auto odd = (low_phase.cos() - high_phase.cos()) / half_n * window;
  const auto norm = (2 * band).unsqueeze(1);
  const auto even_filters = at::cat({even, norm, even.flip({1})}, 1) / norm;
  const auto odd_filters = at::cat({odd, at::zeros_like(norm), -odd.flip({1})}, 1) / norm;
  return at::cat({even_filters, odd_filters}, 0).unsqueeze(1).contiguous();
}

at::Tensor instance_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::instance_norm(x, weight, bias, {}, {}, /*use_input_stats=*/true, 0.0, 1e-5, /*cudnn_enabled=*/true);
}

}  // namespace

Result<SpeakerSegmentation> SpeakerSegmentation::load(const std::filesystem::path& weights, at::Device device) {
  auto tensors = TRY(NamedTensors::open(weights, "state_dict"));
  SpeakerSegmentation network;
  const auto layer = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    return Layer{tensors.take(name + ".weight", shape, device), tensors.take(name + ".bias", {shape[0]}, device)};
  };
  const auto normed = [&](const std::string& name, std::int64_t channels) {
    return Normed{tensors.take(name + ".weight", {channels}, device), tensors.take(name + ".bias", {channels}, device)};
  };
  network.wave_norm_ = normed("sincnet.wav_norm1d", 1);
  network.sinc_ = sinc_filters(tensors).to(device);
  for (int i = 0; i < 3; ++i)
    network.norms_[i] = normed("sincnet.norm1d." + std::to_string(i), i == 0 ? kFilters : kChannels);
  network.convolutions_[0] = layer("sincnet.conv1d.1", {kChannels, kFilters, 5});
  network.convolutions_[1] = layer("sincnet.conv1d.2", {kChannels, kChannels, 5});
  for (int i = 0; i < 4; ++i)
    for (const char* direction : {"", "_reverse"}) {
      const std::string of = "_l" + std::to_string(i) + direction;
      const std::int64_t inputs = i == 0 ? kChannels : 2 * kHidden;
      network.lstm_.push_back(tensors.take("lstm.weight_ih" + of, {4 * kHidden, inputs}, device));
      network.lstm_.push_back(tensors.take("lstm.weight_hh" + of, {4 * kHidden, kHidden}, device));
      network.lstm_.push_back(tensors.take("lstm.bias_ih" + of, {4 * kHidden}, device));
      network.lstm_.push_back(tensors.take("lstm.bias_hh" + of, {4 * kHidden}, device));
    }
  network.linear_[0] = layer("linear.0", {kHidden, 2 * kHidden});
  network.linear_[1] = layer("linear.1", {kHidden, kHidden});
  network.classifier_ = layer("classifier", {kClasses, kHidden});
  if (tensors.error()) return fail_in(weights.string(), *tensors.error());
  return network;
}

at::Tensor SpeakerSegmentation::forward(const at::Tensor& pcm) const {
  auto x = instance_norm(pcm.unsqueeze(1), wave_norm_.weight, wave_norm_.bias);
  x = at::conv1d(x, sinc_, {}, 10).abs_();
  for (int i = 0; i < 3; ++i) {
    if (i > 0) x = at::conv1d(x, convolutions_[i - 1].weight, convolutions_[i - 1].bias);
    x = at::leaky_relu(instance_norm(at::max_pool1d(x, 3, 3), norms_[i].weight, norms_[i].bias), kLeak);
  }
  const auto zeros = at::zeros({8, x.size(0), kHidden}, x.options());
  x = std::get<0>(at::lstm(x.transpose(1, 2).contiguous(), {zeros, zeros}, lstm_, /*has_biases=*/true, /*num_layers=*/4,
                           /*dropout=*/0.0, /*train=*/false, /*bidirectional=*/true, /*batch_first=*/true));
  for (const Layer& layer : linear_) x = at::leaky_relu(at::linear(x, layer.weight, layer.bias), kLeak);
  return at::log_softmax(at::linear(x, classifier_.weight, classifier_.bias), -1);
}

}  // namespace tutti
