#include <gtest/gtest.h>

#include "model/golden.h"
#include "model/whisper.h"
#include "support/test_data.h"

namespace tutti {
namespace {

WhisperModel load_float32(const std::filesystem::path& path) {
  auto model = WhisperModel::load(path, at::kCPU, ComputeType::float32);
  if (!model) throw std::runtime_error(model.error().text());
  return std::move(*model);
}

/// A clip's mel, padded to the window as it was for the reference.
at::Tensor whole_window(const std::map<std::string, at::Tensor>& golden) {
  auto window = at::full({80, 3000}, golden.at("floor").item<float>());
  const auto& mel = golden.at("mel");
  window.narrow(1, 0, mel.size(1)).copy_(mel);
  return window;
}

TEST(Whisper, RandomModelWithOwnWindowLengthEqualsReference) {
  const auto golden = read_golden(golden_folder() / "random/golden.safetensors");
  const auto model = load_float32(golden_folder() / "random");
  const auto& mel = golden.at("mel");
  const at::Tensor mels[] = {mel, mel.flip(1)};
  auto cache = model.make_self_kv(2);
  for (std::int32_t i = 0; i < 2; ++i) {
    const auto encoded = model.encode(mels[i]);
    EXPECT_LT(distance(encoded, golden.at("encoded")[i]), 1e-5);
    const auto window = model.cross_kv(encoded);
    const auto tokens = token_row(golden.at("tokens"), i);
    const SequenceStep whole[] = {{.slot = i, .position = 0, .tokens = tokens, .window = &window}};
    EXPECT_LT(distance(model.decode(whole, cache), golden.at("logits")[i]), 1e-4);
  }
}

TEST(Whisper, TinyEnglishComputesWhatTheReferenceComputesOnRealSpeech) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto golden = read_golden(golden_folder() / "tiny.en.safetensors");
  const auto model = load_float32(test_data() / "whisper-tiny.en");
  const auto encoded = model.encode(whole_window(golden));
  EXPECT_LT(distance(encoded.slice(0, 0, 8).slice(1, 0, 32), golden.at("encoded_head")), 1e-3);
  EXPECT_LT(distance(encoded.slice(0, -8).slice(1, -32), golden.at("encoded_tail")), 1e-3);
  const auto magnitude = encoded.to(at::kDouble).abs().sum().item<double>();
  const auto expected = golden.at("encoded_sums")[1].item<double>();
  EXPECT_NEAR(magnitude / expected, 1, 1e-5);

  const auto window = model.cross_kv(encoded);
  const auto tokens = token_row(golden.at("tokens"), 0);
  auto cache = model.make_self_kv(1);
  const SequenceStep whole[] = {{.tokens = tokens, .window = &window}};
  const auto logits = model.decode(whole, cache);
  EXPECT_LT(distance(logits.slice(1, 0, 64), golden.at("logits_head")), 1e-3);
  EXPECT_LT(distance(logits.slice(1, -64), golden.at("logits_tail")), 1e-3);
  EXPECT_LT(
      distance(logits.to(at::kDouble).sum(1) / logits.size(1), golden.at("logits_sums").select(1, 0) / logits.size(1)),
      1e-3);
}

TEST(Whisper, GreedyDecodingStepByStepEqualsReference) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto golden = read_golden(golden_folder() / "tiny.en.safetensors");
  const auto model = load_float32(test_data() / "whisper-tiny.en");
  const auto window = model.cross_kv(model.encode(whole_window(golden)));
  auto cache = model.make_self_kv(3);
  const auto expected = token_row(golden.at("tokens"), 0);
  std::vector<std::int32_t> output(expected.begin(), expected.begin() + 2);
  std::int32_t done = 0;
  while (output.size() < expected.size()) {
    const SequenceStep step[] = {{.slot = 2,
                                  .position = done,
                                  .tokens = std::span(output).subspan(static_cast<std::size_t>(done)),
                                  .window = &window}};
    const auto logits = model.decode(step, cache);
    done = static_cast<std::int32_t>(output.size());
    output.push_back(static_cast<std::int32_t>(logits[-1].argmax().item<std::int64_t>()));
  }
  EXPECT_EQ(output, expected);
}

}  // namespace
}  // namespace tutti
