#include "train/tts/network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "train/frame_layers.h"
#include "train/tts/alignment.h"

namespace tutti {
namespace {

using layers::applied;
using layers::convolved;
using layers::convolved_line;
using layers::normalised;

constexpr std::int64_t kPrenetTaps = 5, kPrenetConvs = 2;
constexpr std::int64_t kInnerTaps = 3;
constexpr std::int64_t kDurationTaps = 3, kDurationConvs = 2;
constexpr std::int64_t kDecoderTaps = 7;
constexpr std::int64_t kTimeWidth = 64;
constexpr double kTimeScale = 1000;  // scale of the time 0 to 1, before its sinusoids

VoiceConv conv_of(ParameterMaker& make, const std::string& name, std::int64_t out, std::int64_t in, std::int64_t taps) {
  return {.taps = make.linear(name, out, taps * in), .norm = make.norm(name + "_norm", out)};
}

void make_encoder(ParameterMaker& make, const VoiceShape& s, VoiceWeights& w) {
  w.symbols = make.normal("encoder.symbols", {s.symbols, s.width}, 1);
  w.speakers = make.normal("encoder.speakers", {s.speakers, s.width}, 0.1);
  for (std::int64_t i = 0; i < kPrenetConvs; ++i)
    w.prenet.push_back(conv_of(make, "encoder.prenet." + std::to_string(i), s.width, s.width, kPrenetTaps));
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const auto name = "encoder.layers." + std::to_string(i) + ".";
    w.layers.push_back({.attention_norm = make.norm(name + "attention_norm", s.width),
                        .joined = make.linear(name + "query_key_value", 3 * s.width, s.width),
                        .out = make.linear(name + "out", s.width, s.width),
                        .inner_norm = make.norm(name + "inner_norm", s.width),
                        .expand = make.linear(name + "expand", s.inner, kInnerTaps * s.width),
                        .contract = make.linear(name + "contract", s.width, kInnerTaps * s.inner)});
  }
  w.norm = make.norm("encoder.norm", s.width);
  w.mean = make.linear("encoder.mean", s.mels, s.width);
}

void make_durations(ParameterMaker& make, const VoiceShape& s, VoiceWeights& w) {
  for (std::int64_t i = 0; i < kDurationConvs; ++i)
    w.durations.push_back(conv_of(make, "durations." + std::to_string(i), s.duration_width,
                                  i == 0 ? s.width : s.duration_width, kDurationTaps));
  w.duration = make.linear("durations.out", 1, s.duration_width);
}

void make_decoder(ParameterMaker& make, const VoiceShape& s, VoiceWeights& w) {
  const auto width = s.decoder_width;
  w.condition = make.linear("decoder.condition", width, s.width + s.mels);
  if (s.positions > 0) w.position = make.filled("decoder.position", {width, s.positions}, 0);
  w.noisy = make.linear("decoder.noisy", width, s.mels);
  w.time = make.linear("decoder.time", kTimeWidth, kTimeWidth);
  for (std::int64_t i = 0; i < s.decoder_layers; ++i) {
    const auto name = "decoder.blocks." + std::to_string(i) + ".";
    const double bound = 1 / std::sqrt(static_cast<double>(kDecoderTaps));
    w.blocks.push_back({.film = make.zero_linear(name + "film", 2 * width, kTimeWidth),
                        .depthwise = make.even(name + "depthwise.weight", {width, 1, kDecoderTaps}, bound),
                        .offset = make.filled(name + "depthwise.bias", {width}, 0),
                        .norm = make.norm(name + "norm", width),
                        .expand = make.linear(name + "expand", s.decoder_inner, width),
                        .contract = make.linear(name + "contract", width, s.decoder_inner)});
  }
  w.decoder_norm = make.norm("decoder.norm", width);
  w.velocity = make.zero_linear("decoder.velocity", s.mels, width);
}

/// Turns pairs of a head's channels by their position: x [rows, heads, length, head width].
at::Tensor turned(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const auto half = x.size(3) / 2;
  const auto a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  return at::cat({a * cosines - b * sines, b * cosines + a * sines}, 3);
}

struct Rotation {
  at::Tensor cosines{};  // [length, head width / 2]
  at::Tensor sines{};
};

Rotation rotation_of(std::int64_t length, std::int64_t head_width, const at::TensorOptions& options) {
  const auto pairs = head_width / 2;
  const auto speeds = at::exp(at::arange(pairs, options) * (-std::log(10000.0) / static_cast<double>(pairs)));
  const auto angles = at::arange(length, options).unsqueeze(1) * speeds.unsqueeze(0);
  return {at::cos(angles), at::sin(angles)};
}

/// `seen`: [rows, 1, 1, length] bool.
at::Tensor attended(const at::Tensor& x, const VoiceEncoderLayer& layer, std::int64_t heads, const Rotation& rotation,
                    const at::Tensor& seen) {
  const auto rows = x.size(0), length = x.size(1), width = x.size(2);
  const auto all = applied(x, layer.joined).view({rows, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const auto query = turned(all[0].to(at::kFloat), rotation.cosines, rotation.sines);
  const auto key = turned(all[1].to(at::kFloat), rotation.cosines, rotation.sines);
  const auto mixed = at::scaled_dot_product_attention(query, key, all[2].to(at::kFloat), seen);
  return applied(mixed.transpose(1, 2).reshape({rows, length, width}), layer.out);
}

at::Tensor dropped(const at::Tensor& x, double share) {
  return share > 0 ? at::dropout(x, share, true) : x;
}

/// What the layers of the encoder have in common: mask [rows, length, 1] float32, seen [rows, 1, 1, length] bool.
struct Positions {
  Rotation rotation{};
  at::Tensor mask{};
  at::Tensor seen{};
};

at::Tensor through(const at::Tensor& x, const VoiceEncoderLayer& layer, std::int64_t heads, const Positions& at,
                   double dropout) {
  const auto y =
      x + dropped(attended(normalised(x, layer.attention_norm), layer, heads, at.rotation, at.seen), dropout);
  auto inner = at::relu(convolved(normalised(y, layer.inner_norm) * at.mask, layer.expand));
  inner = convolved(dropped(inner, dropout) * at.mask, layer.contract);
  return y + dropped(inner, dropout);
}

/// A convolution, a norm and a rectifier.
at::Tensor through(const at::Tensor& x, const VoiceConv& conv, double dropout) {
  return dropped(normalised(at::relu(convolved(x, conv.taps)), conv.norm), dropout);
}

at::Tensor log_durations_of(const VoiceNetwork& network, const at::Tensor& hidden, const at::Tensor& mask,
                            double dropout) {
  auto x = hidden.detach();
  for (const auto& conv : network.weights.durations) x = through(x * mask, conv, dropout);
  return applied(x, network.weights.duration).squeeze(2).to(at::kFloat);
}

/// time: [rows] -> [rows, kTimeWidth].
at::Tensor time_features(const VoiceWeights& weights, const at::Tensor& time) {
  const auto half = kTimeWidth / 2;
  const auto speeds = at::exp(at::arange(half, time.options()) * (-std::log(10000.0) / static_cast<double>(half - 1)));
  const auto angles = (kTimeScale * time).unsqueeze(1) * speeds.unsqueeze(0);
  return at::silu(applied(at::cat({at::sin(angles), at::cos(angles)}, 1), weights.time));
}

at::Tensor through(const at::Tensor& x, const VoiceDecoderBlock& block, const at::Tensor& time,
                   const at::Tensor& mask) {
  const auto width = x.size(2);
  auto y = convolved_line(x * mask, block.depthwise, block.offset, width);
  const auto film = applied(time, block.film).to(at::kFloat).unsqueeze(1);
  y = normalised(y, block.norm) * (1 + film.narrow(2, 0, width)) + film.narrow(2, width, width);
  return x + applied(at::gelu(applied(y, block.expand)), block.contract).to(at::kFloat);
}

/// Where each frame is within its symbol, and how long that lasts: [rows, frames, features] float32. Cosines of its
/// position, 0 to 1, and the logarithm of the symbol's frames; zeros at frames of no symbol. `matrix`:
/// alignment_matrix.
at::Tensor position_features(const at::Tensor& durations, const at::Tensor& frames, const at::Tensor& matrix,
                             std::int64_t features) {
  const auto begins = durations.cumsum(1) - durations;
  const auto of_frames = at::bmm(matrix, at::stack({begins, durations}, 2).to(at::kFloat));
  const auto begin = of_frames.select(2, 0), lasting = of_frames.select(2, 1).clamp_min(1);
  const auto position = (frames.to(at::kFloat) + 0.5 - begin) / lasting;
  std::vector<at::Tensor> columns{lasting.log()};
  for (std::int64_t k = 1; k < features; ++k)
    columns.push_back(at::cos(position * (std::numbers::pi * static_cast<double>(k))));
  return at::stack(columns, 2) * matrix.sum(2, /*keepdim=*/true);
}

}  // namespace

VoiceNetwork new_voice_network(const VoiceShape& shape, std::optional<std::uint64_t> seed, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  VoiceNetwork network{.shape = shape};
  ParameterMaker make(network.all, seed, device);
  make_encoder(make, shape, network.weights);
  make_durations(make, shape, network.weights);
  make_decoder(make, shape, network.weights);
  return network;
}

at::Tensor mask_of(const at::Tensor& counts, std::int64_t length) {
  const auto positions = at::arange(length, counts.options());
  return (positions.unsqueeze(0) < counts.unsqueeze(1)).to(at::kFloat).unsqueeze(2);
}

EncodedText encode_text(const VoiceNetwork& network, const at::Tensor& symbols, const at::Tensor& counts,
                        const at::Tensor& speakers, const ForwardOptions& options) {
  const auto& w = network.weights;
  const double dropout = options.dropout;
  const auto& shape = network.shape;
  const auto mask = mask_of(counts, symbols.size(1));
  const auto seen = mask.transpose(1, 2).unsqueeze(1).to(at::kBool);
  const auto rotation = rotation_of(symbols.size(1), shape.width / shape.heads, mask.options());
  auto x = at::embedding(w.symbols, symbols);
  for (const auto& conv : w.prenet) x = x + through(x * mask, conv, dropout);
  x = x + at::embedding(w.speakers, speakers).unsqueeze(1);
  for (const auto& layer : w.layers) {
    // Holds the layer's tensors: it may run again when the caller's weights are gone.
    const auto run = [layer, heads = shape.heads, rotation, mask, seen, dropout](const at::Tensor& input) {
      return through(input, layer, heads, {rotation, mask, seen}, dropout);
    };
    x = through_block(x, run, options.recompute);
  }
  x = normalised(x, w.norm);
  const auto mean = applied(x, w.mean).to(at::kFloat);
  return {.mean = mean,
          .condition = applied(at::cat({mean, x}, 2), w.condition).to(at::kFloat),
          .log_durations = log_durations_of(network, x, mask, dropout),
          .mask = mask};
}

at::Tensor condition_of(const VoiceNetwork& network, const EncodedText& text, const at::Tensor& durations,
                        const at::Tensor& frames) {
  const auto matrix = alignment_matrix(durations, frames);
  const auto condition = at::bmm(matrix, text.condition);
  if (network.shape.positions == 0) return condition;
  const auto features = position_features(durations, frames, matrix, network.shape.positions);
  return condition + at::linear(features, network.weights.position);
}

at::Tensor velocity_of(const VoiceNetwork& network, const at::Tensor& noisy, const at::Tensor& time,
                       const at::Tensor& condition, const at::Tensor& mask, bool recompute) {
  const auto& w = network.weights;
  const auto features = time_features(w, time);
  auto x = applied(noisy, w.noisy).to(at::kFloat) + condition;
  for (const auto& block : w.blocks) {
    const auto run = [block, mask](const at::Tensor& input, const at::Tensor& when) {
      return through(input, block, when, mask);
    };
    x = through_block(x, features, run, recompute);
  }
  return applied(normalised(x, w.decoder_norm), w.velocity).to(at::kFloat);
}

}  // namespace tutti
