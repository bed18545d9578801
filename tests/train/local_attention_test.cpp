#include "train/whisper/network/local_attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::int64_t kWidth = 128, kHeads = 4, kPositions = 200;

WhisperParameters new_encoder(bool nearby) {
  const auto shape = openai_shape({.n_mels = 80,
                                   .n_audio_ctx = kPositions,
                                   .n_audio_state = kWidth,
                                   .n_audio_head = kHeads,
                                   .n_audio_layer = 3,
                                   .n_vocab = 300,
                                   .n_text_ctx = 8,
                                   .n_text_state = kWidth,
                                   .n_text_head = kHeads,
                                   .n_text_layer = 1});
  auto made = new_parameters(shape, 3, at::kCPU);
  if (nearby) look_nearby(made);
  return made;
}

/// How far from position 100 a head looks first, where there is nothing but positions to see.
std::int64_t looks(const WhisperParameters& network, std::size_t layer, std::int64_t head) {
  const c10::NoGradGuard no_gradients;
  const auto& attn = network.weights.encoder[layer].attn;
  const auto seen = at::layer_norm(network.weights.audio_positions, {kWidth});
  const auto by_head = [&](const at::Tensor& weight) {
    return at::linear(seen, weight).unflatten(1, {kHeads, kWidth / kHeads}).select(1, head);
  };
  const auto scores = by_head(attn.query.weight).matmul(by_head(attn.key.weight).t());
  return scores[100].argmax().item<std::int64_t>() - 100;
}

TEST(LocalAttention, EveryHeadBeginsWithANeighbourOfItsOwn) {
  const auto network = new_encoder(true);
  const std::vector<std::vector<std::int64_t>> expected{{2, -2, 3, -3}, {3, -3, 6, -6}, {6, -6, 12, -12}};
  for (std::size_t layer = 0; layer < expected.size(); ++layer)
    for (std::int64_t head = 0; head < kHeads; ++head)
      EXPECT_EQ(looks(network, layer, head), expected[layer][static_cast<std::size_t>(head)]) << layer << " " << head;
}

TEST(LocalAttention, LeavesAllButQueriesAndKeysOfTheEncoderAsTheyWereDrawn) {
  const auto plain = new_encoder(false), nearby = new_encoder(true);
  for (std::size_t i = 0; i < plain.all.size(); ++i) {
    const auto& name = plain.all[i].name;
    const bool turned =
        name.starts_with("model.encoder.") && (name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight"));
    EXPECT_EQ(plain.all[i].value.equal(nearby.all[i].value), !turned) << name;
  }
}

}  // namespace
}  // namespace tutti
