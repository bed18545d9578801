#include "train/vocoder/network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "train/frame_layers.h"

namespace tutti {
namespace {

using layers::applied;
using layers::convolved;
using layers::convolved_line;
using layers::normalised;

constexpr std::int64_t kTaps = 7;
constexpr std::int64_t kInner = 3;  // times the width
constexpr double kUsual = -2;       // logarithm of a magnitude that is usual in speech: what a new network begins with
// Magnitudes are clipped, so that no step makes numbers that are none.
constexpr double kSoftest = -16, kLoudest = 8;

using Field = std::pair<const char*, std::int64_t VocoderShape::*>;
constexpr std::array<Field, 4> kFields{{{"mels", &VocoderShape::mels},
                                        {"bins", &VocoderShape::bins},
                                        {"width", &VocoderShape::width},
                                        {"layers", &VocoderShape::layers}}};

at::Tensor through(const at::Tensor& x, const VocoderBlock& block) {
  const auto y = normalised(convolved_line(x, block.depthwise, block.offset, x.size(2)), block.norm);
  return x + applied(at::gelu(applied(y, block.expand)), block.contract).to(at::kFloat);
}

}  // namespace

std::string show_vocoder_shape(const VocoderShape& shape) {
  nlohmann::ordered_json json;
  for (const auto& [name, field] : kFields) json[name] = shape.*field;
  return json.dump();
}

Result<VocoderShape> read_vocoder_shape(const std::string& text) {
  VocoderShape shape;
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    for (const auto& [name, field] : kFields) {
      shape.*field = json.at(name);
      if (shape.*field < 1) return fail(Fault::corrupt, std::string("network: ") + name + " is no positive number");
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, std::string("network: ") + error.what());
  }
  return shape;
}

VocoderNetwork new_vocoder_network(const VocoderShape& s, std::optional<std::uint64_t> seed, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  VocoderNetwork n{.shape = s};
  ParameterMaker make(n.all, seed, device);
  n.begin = make.linear("begin", s.width, kTaps * s.mels);
  n.begin_norm = make.norm("begin_norm", s.width);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const auto name = "blocks." + std::to_string(i) + ".";
    const double bound = 1 / std::sqrt(static_cast<double>(kTaps));
    n.blocks.push_back({.depthwise = make.even(name + "depthwise.weight", {s.width, 1, kTaps}, bound),
                        .offset = make.filled(name + "depthwise.bias", {s.width}, 0),
                        .norm = make.norm(name + "norm", s.width),
                        .expand = make.linear(name + "expand", kInner * s.width, s.width),
                        .contract = make.linear(name + "contract", s.width, kInner * s.width)});
  }
  n.end_norm = make.norm("end_norm", s.width);
  n.magnitudes = make.linear("magnitudes", s.bins, s.width, kUsual);
  return n;
}

at::Tensor log_magnitudes_of(const VocoderNetwork& n, const at::Tensor& mel) {
  auto x = normalised(convolved(mel, n.begin), n.begin_norm);
  for (const auto& block : n.blocks) x = through(x, block);
  return applied(normalised(x, n.end_norm), n.magnitudes).to(at::kFloat).clamp(kSoftest, kLoudest);
}

}  // namespace tutti
