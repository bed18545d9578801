#include "train/frame_layers.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <array>
#include <cmath>

namespace tutti {
namespace {

constexpr double kNormEpsilon = 1e-5;

}  // namespace

ParameterMaker::ParameterMaker(std::vector<Parameter>& into, std::optional<std::uint64_t> seed, at::Device device)
    : into_(into), device_(device) {
  if (seed) generator_ = at::detail::createCPUGenerator(*seed);
}

at::Tensor ParameterMaker::even(const std::string& name, at::IntArrayRef sizes, double bound) {
  const auto values = at::empty(sizes, at::TensorOptions(at::kFloat));
  return added(name, generator_ ? at::Tensor(values).uniform_(-bound, bound, generator_) : values);
}

at::Tensor ParameterMaker::normal(const std::string& name, at::IntArrayRef sizes, double deviation) {
  if (!generator_) return added(name, at::empty(sizes, at::TensorOptions(at::kFloat)));
  return added(name, at::randn(sizes, generator_, at::TensorOptions(at::kFloat)).mul_(deviation));
}

at::Tensor ParameterMaker::filled(const std::string& name, at::IntArrayRef sizes, double value) {
  return added(name, at::full(sizes, value, at::TensorOptions(at::kFloat)));
}

ops::Linear ParameterMaker::linear(const std::string& name, std::int64_t out, std::int64_t in, double bias) {
  return {.weight = even(name + ".weight", {out, in}, 1 / std::sqrt(static_cast<double>(in))),
          .bias = filled(name + ".bias", {out}, bias)};
}

ops::Linear ParameterMaker::zero_linear(const std::string& name, std::int64_t out, std::int64_t in) {
  return {.weight = filled(name + ".weight", {out, in}, 0), .bias = filled(name + ".bias", {out}, 0)};
}

ops::Norm ParameterMaker::norm(const std::string& name, std::int64_t size) {
  return {.weight = filled(name + ".weight", {size}, 1), .bias = filled(name + ".bias", {size}, 0)};
}

at::Tensor ParameterMaker::added(const std::string& name, const at::Tensor& value) {
  into_.push_back({name, value.to(device_)});
  return into_.back().value;
}

namespace layers {

/// As an image of one line, frames by channels as they lie are convolved without being turned around; oneDNN has
/// kernels for every processor, where MKL's products take long on AMD's: a step of a voice took 1.64 times as long on
/// one thread of an EPYC.
at::Tensor convolved_line(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, std::int64_t groups) {
  const std::array<std::int64_t, 2> ones{1, 1}, padding{0, weight.size(2) / 2};
  const auto line = x.transpose(1, 2).unsqueeze(2);
  return at::conv2d(line, weight.unsqueeze(2), bias, ones, padding, ones, groups).squeeze(2).transpose(1, 2);
}

at::Tensor convolved(const at::Tensor& x, const ops::Linear& layer) {
  const auto taps = layer.weight.size(1) / x.size(2);
  const auto weight = layer.weight.view({layer.weight.size(0), taps, x.size(2)}).transpose(1, 2);
  return convolved_line(x, weight, layer.bias, 1);
}

at::Tensor applied(const at::Tensor& x, const ops::Linear& layer) {
  if (x.dim() != 3) return at::linear(x, layer.weight, layer.bias);
  return convolved_line(x, layer.weight.unsqueeze(2), layer.bias, 1);
}

at::Tensor normalised(const at::Tensor& x, const ops::Norm& layer) {
  return at::layer_norm(x.to(at::kFloat), layer.weight.sizes(), layer.weight, layer.bias, kNormEpsilon);
}

}  // namespace layers

}  // namespace tutti
