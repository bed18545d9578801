#include <gtest/gtest.h>

#include "model/formats/formats.h"
#include "model/weights.h"

namespace tutti {
namespace {

TEST(TensorNames, BothNamingsOfEveryTensorOfANetworkMeanTheSame) {
  WhisperWeights weights;
  const auto slots = weight_slots(weights, openai_shape({.n_audio_state = 8,
                                                         .n_audio_head = 2,
                                                         .n_audio_layer = 2,
                                                         .n_vocab = 10,
                                                         .n_text_state = 8,
                                                         .n_text_head = 2,
                                                         .n_text_layer = 3}));
  for (const auto& slot : slots) {
    EXPECT_EQ(openai_name(hugging_face_name(slot.name)), slot.name);
    EXPECT_EQ(openai_name(slot.name), slot.name);
  }
}

TEST(TensorNames, HuggingFaceNamesAreThoseOfItsWhisper) {
  EXPECT_EQ(hugging_face_name("decoder.blocks.3.cross_attn.query.bias"),
            "model.decoder.layers.3.encoder_attn.q_proj.bias");
  EXPECT_EQ(hugging_face_name("decoder.blocks.0.cross_attn_ln.weight"),
            "model.decoder.layers.0.encoder_attn_layer_norm.weight");
  EXPECT_EQ(hugging_face_name("encoder.blocks.11.mlp.2.weight"), "model.encoder.layers.11.fc2.weight");
  EXPECT_EQ(hugging_face_name("encoder.ln_post.bias"), "model.encoder.layer_norm.bias");
  EXPECT_EQ(hugging_face_name("decoder.token_embedding.weight"), "model.decoder.embed_tokens.weight");
}

}  // namespace
}  // namespace tutti
