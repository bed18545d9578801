#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ops.h"
#include "train/parameter.h"

namespace tutti {

/// Makes the tensors of a new network one after the other, and notes their names. One thread.
class ParameterMaker {
 public:
  /// The same seed gives the same values. Without one what would be drawn is left unset, for weights that are copied
  /// over it.
  ParameterMaker(std::vector<Parameter>& into, std::optional<std::uint64_t> seed, at::Device device);

  at::Tensor even(const std::string& name, at::IntArrayRef sizes, double bound);
  at::Tensor normal(const std::string& name, at::IntArrayRef sizes, double deviation);
  at::Tensor filled(const std::string& name, at::IntArrayRef sizes, double value);
  /// Weights even within 1 / sqrt(in), each bias `bias`.
  ops::Linear linear(const std::string& name, std::int64_t out, std::int64_t in, double bias = 0);
  ops::Linear zero_linear(const std::string& name, std::int64_t out, std::int64_t in);
  ops::Norm norm(const std::string& name, std::int64_t size);

 private:
  at::Tensor added(const std::string& name, const at::Tensor& value);

  std::vector<Parameter>& into_;
  std::optional<at::Generator> generator_{};
  at::Device device_;
};

/// Layers of networks that compute frame by frame: x [rows, length, channels] float32 -> [rows, length, out]. They
/// enqueue only.
namespace layers {

/// A convolution over time by weights [out, in / groups, taps], zeros beyond both ends.
at::Tensor convolved_line(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, std::int64_t groups);
/// The same by weights [out, taps * in], tap by tap.
at::Tensor convolved(const at::Tensor& x, const ops::Linear& layer);
/// x of any number of dimensions.
at::Tensor applied(const at::Tensor& x, const ops::Linear& layer);
/// Each frame by itself.
at::Tensor normalised(const at::Tensor& x, const ops::Norm& layer);

}  // namespace layers

}  // namespace tutti
