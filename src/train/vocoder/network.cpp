#include "train/vocoder/network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "audio/voice/pitch.h"
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
constexpr double kUsual = -5;       // logarithm of a factor that is usual in speech: what a new network begins with
// Factors are clipped, so that no step makes numbers that are none.
constexpr double kSoftest = -16, kLoudest = 8;
constexpr std::int64_t kPitches = kPitchClasses - 1;  // classes with a pitch, behind the one without

using Field = std::pair<const char*, std::int64_t VocoderShape::*>;
constexpr std::array<Field, 4> kFields{{{"mels", &VocoderShape::mels},
                                        {"bins", &VocoderShape::bins},
                                        {"width", &VocoderShape::width},
                                        {"layers", &VocoderShape::layers}}};

/// By how much the natural logarithm of the pitch rises from one class to the next.
double pitch_step() {
  return std::log(PitchOptions{}.highest / PitchOptions{}.lowest) / (kPitches - 1);
}

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
  n.pulses = make.linear("pulses", s.bins, s.width, kUsual);
  n.noise = make.linear("noise", s.bins, s.width, kUsual);
  n.turns = make.zero_linear("turns", s.bins, s.width);
  n.pitch = make.zero_linear("pitch", kPitchClasses, s.width);
  return n;
}

VocoderFilters filters_of(const VocoderNetwork& n, const at::Tensor& mel) {
  auto x = normalised(convolved(mel, n.begin), n.begin_norm);
  for (const auto& block : n.blocks) x = through(x, block);
  x = normalised(x, n.end_norm);
  const auto factors = [&](const ops::Linear& layer) {
    return applied(x, layer).to(at::kFloat).clamp(kSoftest, kLoudest);
  };
  return {.pulses = factors(n.pulses),
          .noise = factors(n.noise),
          .turns = applied(x, n.turns).to(at::kFloat),
          .pitch = applied(x, n.pitch).to(at::kFloat)};
}

at::Tensor pitch_losses(const at::Tensor& logits, const at::Tensor& pitch) {
  const auto steps = (pitch.clamp_min(1) / PitchOptions{}.lowest).log() / pitch_step();
  const auto number = at::where(pitch > 0, 1 + steps.clamp(0, kPitches - 1), at::zeros_like(pitch));
  const auto below = number.trunc(), share = number - below;
  const auto likelihoods = at::log_softmax(logits, -1);
  const auto of_class = [&](const at::Tensor& one) {
    return likelihoods.gather(-1, one.clamp_max(kPitches).to(at::kLong).unsqueeze(-1)).squeeze(-1);
  };
  return -((1 - share) * of_class(below) + share * of_class(below + 1)).mean(1);
}

std::vector<float> likeliest_pitch(const at::Tensor& logits) {
  constexpr std::int64_t kBeside = 2;  // classes on both sides of the likeliest that the pitch is a mean of
  constexpr double kHalf = 0.5;
  const auto shares = at::softmax(logits, -1).to(at::kCPU).contiguous();
  std::vector<float> pitch;
  for (std::int64_t frame = 0; frame < shares.size(0); ++frame) {
    const std::span all(shares.const_data_ptr<float>() + frame * kPitchClasses, kPitchClasses);
    const auto pitches = all.subspan(1);
    const auto best = std::ranges::max_element(pitches) - pitches.begin();
    double sum = 0, weight = 0;
    for (auto i = std::max<std::int64_t>(0, best - kBeside); i <= std::min(kPitches - 1, best + kBeside); ++i) {
      const double share = pitches[static_cast<std::size_t>(i)];
      sum += share * static_cast<double>(i);
      weight += share;
    }
    const bool has_one = all[0] < kHalf;
    pitch.push_back(has_one ? static_cast<float>(PitchOptions{}.lowest * std::exp(pitch_step() * sum / weight)) : 0);
  }
  return pitch;
}

}  // namespace tutti
