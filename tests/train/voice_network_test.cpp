#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "train/tts/losses.h"

using namespace tutti;

namespace {

VoiceShape small_shape() {
  return {.symbols = 7,
          .speakers = 2,
          .mels = 8,
          .width = 16,
          .layers = 2,
          .heads = 2,
          .inner = 24,
          .duration_width = 12,
          .decoder_width = 20,
          .decoder_layers = 2,
          .decoder_inner = 28};
}

/// The formulas of tools/golden/voice.py.
at::Tensor formula(std::int64_t count, double phase, double scale) {
  auto values = at::empty({count}, at::TensorOptions(at::kFloat));
  for (std::int64_t i = 0; i < count; ++i)
    values.mutable_data_ptr<float>()[i] = static_cast<float>(scale * std::sin(0.37 * static_cast<double>(i) + phase));
  return values;
}

VoiceNetwork formula_network() {
  auto network = new_voice_network(small_shape(), 1, at::kCPU);
  const c10::AutoGradMode no_gradients(false);
  for (std::size_t i = 0; i < network.all.size(); ++i) {
    auto& [name, value] = network.all[i];
    value.copy_(formula(value.numel(), static_cast<double>(i), 0.3).view(value.sizes()));
    if (name.ends_with("norm.weight")) value.add_(1);
    value.set_requires_grad(true);
  }
  return network;
}

constexpr std::int64_t kFrames = 150;

VoiceRows formula_rows() {
  const at::TensorOptions whole(at::kLong);
  return {.symbols = (at::arange(10, whole) * 3).remainder(7).view({2, 5}),
          .symbol_counts = at::tensor({5, 3}, whole),
          .mel = formula(2 * kFrames * 8, 0.5, 1).view({2, kFrames, 8}),
          .frame_counts = at::tensor({kFrames, std::int64_t{140}}, whole),
          .speakers = at::tensor({0, 1}, whole),
          .crop = at::tensor({0.75F, 0.25F}),
          .time = at::tensor({0.3F, 0.8F})};
}

at::Tensor formula_noise() {
  return formula(2 * kCropFrames * 8, 0.9, 1).view({2, kCropFrames, 8});
}

nlohmann::json golden() {
  return nlohmann::json::parse(read_file(std::string(TUTTI_SOURCE_DIR) + "/tests/data/train/voice.json").value());
}

template <class Values>
void expect_near(const Values& found, const nlohmann::json& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i].template get<double>(),
                tolerance * std::max(1.0, std::abs(expected[i].template get<double>())))
        << what << ' ' << i;
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kFloat).contiguous().flatten();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

}  // namespace

TEST(VoiceNetwork, LossesDurationsAndGradientsAreThoseOfPyTorch) {
  const auto expected = golden();
  const auto network = formula_network();
  at::Tensor durations;
  const auto losses = voice_losses(network, formula_rows(), formula_noise(), {}, &durations);
  expect_near(values_of(losses.prior), expected["prior"], 1e-5, "prior");
  expect_near(values_of(losses.durations), expected["duration_losses"], 1e-5, "durations");
  expect_near(values_of(losses.flow), expected["flow"], 1e-5, "flow");
  for (std::int64_t row = 0; row < 2; ++row)
    expect_near(values_of(durations[row].narrow(0, 0, row == 0 ? 5 : 3)),
                expected["durations"][static_cast<std::size_t>(row)], 0, "frames of symbols");
  (losses.prior + losses.durations + losses.flow).sum().backward();
  std::vector<float> norms;
  for (const auto& parameter : network.all) norms.push_back(parameter.value.grad().norm().item<float>());
  expect_near(norms, expected["gradient_norms"], 1e-4, "gradient of");
}

TEST(VoiceNetwork, ComputingTwiceChangesNeitherLossesNorGradients) {
  const auto kept = formula_network(), again = formula_network();
  const auto losses_of = [](const VoiceNetwork& network, bool recompute) {
    at::manual_seed(5);
    const auto losses =
        voice_losses(network, formula_rows(), formula_noise(), {.dropout = 0.3, .recompute = recompute});
    (losses.prior + losses.durations + losses.flow).sum().backward();
    return losses;
  };
  const auto plain = losses_of(kept, false), recomputed = losses_of(again, true);
  EXPECT_TRUE(at::equal(plain.prior, recomputed.prior));
  EXPECT_TRUE(at::equal(plain.flow, recomputed.flow));
  for (std::size_t i = 0; i < kept.all.size(); ++i) {
    ASSERT_TRUE(again.all[i].value.grad().defined()) << kept.all[i].name;
    EXPECT_TRUE(at::allclose(kept.all[i].value.grad(), again.all[i].value.grad(), 1e-4, 1e-6)) << kept.all[i].name;
  }
}

TEST(VoiceNetwork, EncoderAnswersAsPyTorchBehindPadding) {
  const c10::AutoGradMode no_gradients(false);
  const auto expected = golden();
  const auto network = formula_network();
  const auto rows = formula_rows();
  const auto text = encode_text(network, rows.symbols, rows.symbol_counts, rows.speakers);
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const std::int64_t count = row == 0 ? 5 : 3;
    expect_near(values_of(text.mean[row].narrow(0, 0, count)), expected["means"][at], 1e-5, "means");
    expect_near(values_of(text.log_durations[row].narrow(0, 0, count)), expected["log_durations"][at], 1e-5, "logs");
  }
}

TEST(VoiceNetwork, PaddingChangesNeitherLossesNorGradients) {
  const auto short_network = formula_network(), long_network = formula_network();
  const auto rows = formula_rows();
  auto padded = rows;
  const auto junk = at::full({2, 6}, 4, at::TensorOptions(at::kLong));
  padded.symbols = at::cat({rows.symbols, junk}, 1);
  padded.mel = at::cat({rows.mel, at::full({2, 50, 8}, 17.F)}, 1);
  const auto plain = voice_losses(short_network, rows, formula_noise());
  const auto wide = voice_losses(long_network, padded, formula_noise());
  EXPECT_TRUE(at::allclose(plain.prior, wide.prior, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(plain.durations, wide.durations, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(plain.flow, wide.flow, 1e-5, 1e-6));
  (plain.prior + plain.durations + plain.flow).sum().backward();
  (wide.prior + wide.durations + wide.flow).sum().backward();
  for (std::size_t i = 0; i < short_network.all.size(); ++i)
    EXPECT_TRUE(at::allclose(short_network.all[i].value.grad(), long_network.all[i].value.grad(), 1e-3, 1e-5))
        << short_network.all[i].name;
}

TEST(VoiceNetwork, EvenRowSharesItsFramesOut) {
  const c10::AutoGradMode no_gradients(false);
  auto rows = formula_rows();
  rows.is_even = at::tensor({0, 1}, at::TensorOptions(at::kLong)).to(at::kBool);
  at::Tensor searched, durations;
  voice_losses(formula_network(), formula_rows(), formula_noise(), {}, &searched);
  voice_losses(formula_network(), rows, formula_noise(), {}, &durations);
  EXPECT_TRUE(at::equal(durations[0], searched[0]));
  EXPECT_TRUE(at::equal(durations[1], at::tensor({46, 47, 47, 0, 0}, at::TensorOptions(at::kLong)))) << durations[1];
}

TEST(VoiceNetwork, NewOneAddsNothingToItsNoise) {
  const c10::AutoGradMode no_gradients(false);
  const auto network = new_voice_network(small_shape(), 3, at::kCPU);
  const auto velocity =
      velocity_of(network, at::randn({1, 9, 8}), at::zeros({1}), at::randn({1, 9, 20}), at::ones({1, 9, 1}));
  EXPECT_EQ(velocity.abs().max().item<float>(), 0);
}

TEST(VoiceShape, NotesSizesHaveTheirDimensions) {
  const auto shape = voice_shape("normal").value();
  EXPECT_EQ(shape.width, 512);
  EXPECT_EQ(shape.layers, 8);
  EXPECT_EQ(shape.heads, 8);
  EXPECT_EQ(shape.decoder_width, 1536);
  EXPECT_EQ(shape.decoder_layers, 16);
  const auto refused = voice_shape("base").error();
  EXPECT_EQ(refused.fault, Fault::usage);
  EXPECT_NE(refused.text().find("tiny, small, normal, big"), std::string::npos) << refused.text();
}

TEST(VoiceShape, SurvivesItsJson) {
  const auto shape = small_shape();
  EXPECT_EQ(show_voice_shape(read_voice_shape(show_voice_shape(shape)).value()), show_voice_shape(shape));
  EXPECT_EQ(read_voice_shape("{}").error().fault, Fault::corrupt);
  auto before = nlohmann::json::parse(show_voice_shape(shape));
  before.erase("positions");  // as voices had it until 2026-11-26
  EXPECT_EQ(read_voice_shape(before.dump()).value().positions, 0);
  auto negative = shape;
  negative.width = -1;
  EXPECT_EQ(read_voice_shape(show_voice_shape(negative)).error().fault, Fault::corrupt);
}

TEST(VoiceShape, NanoHasFiveMillionParameters) {
  auto shape = voice_shape("nano").value();
  shape.symbols = 80;
  std::int64_t count = 0;
  for (const auto& parameter : new_voice_network(shape, 1, at::kCPU).all) count += parameter.value.numel();
  EXPECT_GT(count, 5'000'000);
  EXPECT_LT(count, 5'300'000);
}
