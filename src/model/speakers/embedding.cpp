#include "model/speakers/embedding.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "base/try.h"

namespace tutti {
namespace {

constexpr std::int64_t kHead = 32, kBottleneck = 128, kGrowth = 32, kContext = 64, kFirst = 128;
constexpr std::int64_t kSegment = 100;  // frames that share a context, beside that of the whole piece

struct BlockShape {
  std::int64_t layers, dilation;
};
constexpr BlockShape kBlocks[] = {{12, 1}, {24, 2}, {16, 2}};

/// [channels] -> [channels, 1], on the device.
ChannelNorm as_columns(const ChannelNorm& norm, at::Device device) {
  return {norm.scale.unsqueeze(1).to(device), norm.shift.unsqueeze(1).to(device)};
}

/// max(0, x * scale + shift); x: [channels, frames].
at::Tensor normed_relu(const at::Tensor& x, const ChannelNorm& norm) {
  return at::addcmul(norm.shift, x, norm.scale).relu_();
}

/// The inputs of a convolution of three taps, [channels, pieces, frames] -> [3 * channels, pieces * frames].
at::Tensor three_taps(const at::Tensor& x, std::int64_t dilation) {
  const auto channels = x.size(0), pieces = x.size(1), frames = x.size(2);
  auto taps = at::zeros({3, channels, pieces, frames}, x.options());
  const auto shifted = std::max<std::int64_t>(0, frames - dilation), by = frames - shifted;
  taps[0].narrow(2, by, shifted).copy_(x.narrow(2, 0, shifted));
  taps[1].copy_(x);
  taps[2].narrow(2, 0, shifted).copy_(x.narrow(2, by, shifted));
  return taps.reshape({3 * channels, pieces * frames});
}

}  // namespace

Result<SpeakerEmbedding> SpeakerEmbedding::load(const std::filesystem::path& weights, at::Device device) {
  auto opened = TRY(NamedTensors::open(weights, ""));
  NamedTensors& tensors = opened;
  SpeakerEmbedding network;
  // A convolution or product without bias, with the norm behind it folded in.
  const auto folded = [&](const std::string& name, const std::vector<std::int64_t>& shape, const std::string& of,
                          bool affine = true) {
    const auto norm = ChannelNorm::take(tensors, of, shape[0], affine);
    std::vector<std::int64_t> rows(shape.size(), 1);
    rows[0] = shape[0];
    return Layer{(tensors.take(name + ".weight", shape) * norm.scale.reshape(rows)).to(device), norm.shift.to(device)};
  };
  const auto two_d = [&](const std::string& name, const std::string& norm, std::int64_t inputs, std::int64_t taps) {
    return folded("head." + name, {kHead, inputs, taps, taps}, "head." + norm);
  };
  network.conv1_ = two_d("conv1", "bn1", 1, 3);
  network.conv2_ = two_d("conv2", "bn2", kHead, 3);
  for (const std::string layer : {"layer1.", "layer2."})
    for (const std::string block : {"0.", "1."}) {
      const std::string of = layer + block;
      ResidualBlock residual{.first = two_d(of + "conv1", of + "bn1", kHead, 3),
                             .second = two_d(of + "conv2", of + "bn2", kHead, 3)};
      if (block == "0.") {
        residual.shortcut = two_d(of + "shortcut.0", of + "shortcut.1", kHead, 1);
        residual.stride = 2;
      }
      network.residual_.push_back(std::move(residual));
    }
  network.tdnn_ = folded("xvector.tdnn.linear", {kFirst, 320, 5}, "xvector.tdnn.nonlinear.batchnorm");

  std::int64_t channels = kFirst;
  for (std::size_t i = 0; i < std::size(kBlocks); ++i) {
    const std::string number = std::to_string(i + 1);
    DenseBlock block;
    for (std::int64_t l = 1; l <= kBlocks[i].layers; ++l, channels += kGrowth) {
      const std::string of = "xvector.block" + number + ".tdnnd" + std::to_string(l) + ".";
      DenseLayer layer{.dilation = kBlocks[i].dilation};
      layer.norm = as_columns(ChannelNorm::take(tensors, of + "nonlinear1.batchnorm", channels), device);
      layer.bottleneck = folded(of + "linear1", {kBottleneck, channels, 1}, of + "nonlinear2.batchnorm");
      layer.bottleneck = {layer.bottleneck.weight.squeeze(2), layer.bottleneck.bias.unsqueeze(1)};
      const std::string cam = of + "cam_layer.";
      layer.local = tensors.take(cam + "linear_local.weight", {kGrowth, kBottleneck, 3}, device)
                        .permute({0, 2, 1})
                        .reshape({kGrowth, 3 * kBottleneck});
      const auto context = [&](const std::string& name, std::int64_t out, std::int64_t in) {
        return Layer{tensors.take(cam + name + ".weight", {out, in, 1}, device).squeeze(2),
                     tensors.take(cam + name + ".bias", {out}, device).unsqueeze(1)};
      };
      layer.context_in = context("linear1", kContext, kBottleneck);
      layer.context_out = context("linear2", kGrowth, kContext);
      block.layers.push_back(std::move(layer));
    }
    const std::string transit = "xvector.transit" + number + ".";
    block.norm = as_columns(ChannelNorm::take(tensors, transit + "nonlinear.batchnorm", channels), device);
    block.transit = tensors.take(transit + "linear.weight", {channels / 2, channels, 1}, device).squeeze(2);
    channels /= 2;
    network.blocks_.push_back(std::move(block));
  }
  network.out_norm_ = as_columns(ChannelNorm::take(tensors, "xvector.out_nonlinear.batchnorm", channels), device);
  network.dense_ = folded("xvector.dense.linear", {kDimensions, 2 * channels, 1}, "xvector.dense.nonlinear.batchnorm",
                          /*affine=*/false);
  network.dense_.weight = network.dense_.weight.squeeze(2);
  if (tensors.error()) return fail_in(weights.string(), *tensors.error());
  return network;
}

/// [pieces, frames, kFeatures] -> [kFirst, pieces * frames / 2].
at::Tensor SpeakerEmbedding::head(const SpeakerEmbedding& network, const at::Tensor& features) {
  const auto convolved = [](const at::Tensor& x, const Layer& layer, std::int64_t stride = 1) {
    const std::int64_t padding = layer.weight.size(2) / 2;
    return at::conv2d(x, layer.weight, layer.bias, {stride, 1}, {padding, padding});
  };
  auto x = (features - features.mean(1, /*keepdim=*/true)).transpose(1, 2).unsqueeze(1).contiguous();
  x = convolved(x, network.conv1_).relu_();
  for (const ResidualBlock& block : network.residual_) {
    const auto inner = convolved(x, block.first, block.stride).relu_();
    const auto shortcut = block.shortcut.weight.defined() ? convolved(x, block.shortcut, block.stride) : x;
    x = (convolved(inner, block.second) + shortcut).relu_();
  }
  x = convolved(x, network.conv2_, 2).relu_();
  x = x.reshape({x.size(0), x.size(1) * x.size(2), x.size(3)});
  x = at::conv1d(x, network.tdnn_.weight, network.tdnn_.bias, 2, 2).relu_();
  return x.transpose(0, 1).reshape({kFirst, -1});
}

/// The layer's new channels, weighted by what is around: [kBottleneck, pieces * frames] -> [kGrowth, pieces * frames].
at::Tensor SpeakerEmbedding::masked_local(const DenseLayer& layer, const at::Tensor& x, std::int64_t pieces) {
  const auto by_piece = x.reshape({kBottleneck, pieces, -1});
  const auto frames = by_piece.size(2);
  const auto local = at::mm(layer.local, three_taps(by_piece, layer.dilation)).reshape({kGrowth, pieces, frames});
  const auto segments = (frames + kSegment - 1) / kSegment;
  auto context = by_piece.mean(2, /*keepdim=*/true);
  context = context + (segments == 1 ? context : at::avg_pool1d(by_piece, kSegment, kSegment, 0, /*ceil_mode=*/true));
  auto mask = at::addmm(layer.context_in.bias, layer.context_in.weight, context.reshape({kBottleneck, -1})).relu_();
  mask = at::addmm(layer.context_out.bias, layer.context_out.weight, mask).sigmoid_();
  mask = mask.reshape({kGrowth, pieces, segments, 1});
  if (segments > 1) mask = mask.expand({kGrowth, pieces, segments, kSegment});
  mask = mask.reshape({kGrowth, pieces, -1});
  if (segments > 1) mask = mask.narrow(2, 0, frames);
  return (local * mask).reshape({kGrowth, pieces * frames});
}

/// All channels of the block lie one below the other, so that none is copied for the layers behind it.
at::Tensor SpeakerEmbedding::through(const DenseBlock& block, const at::Tensor& x, std::int64_t pieces) {
  std::int64_t channels = x.size(0);
  auto all = at::empty({block.transit.size(1), x.size(1)}, x.options());
  all.narrow(0, 0, channels).copy_(x);
  for (const DenseLayer& layer : block.layers) {
    const auto y = normed_relu(all.narrow(0, 0, channels), layer.norm);
    const auto narrow = at::addmm(layer.bottleneck.bias, layer.bottleneck.weight, y).relu_();
    all.narrow(0, channels, kGrowth).copy_(masked_local(layer, narrow, pieces));
    channels += kGrowth;
  }
  return at::mm(block.transit, normed_relu(all, block.norm));
}

at::Tensor SpeakerEmbedding::forward(const at::Tensor& features) const {
  const auto pieces = features.size(0);
  auto x = head(*this, features);
  for (const DenseBlock& block : blocks_) x = through(block, x, pieces);
  x = normed_relu(x, out_norm_).reshape({x.size(0), pieces, -1});
  const auto statistics = at::cat({x.mean(2), x.std(/*dim=*/at::IntArrayRef{2}, /*unbiased=*/true)}, 0);
  return at::addmm(dense_.bias, statistics.t(), dense_.weight.t());
}

}  // namespace tutti
