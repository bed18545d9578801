#include "train/whisper/stored_shape.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

const WhisperDims kBase{.n_audio_state = 512,
                        .n_audio_head = 8,
                        .n_audio_layer = 6,
                        .n_text_state = 512,
                        .n_text_head = 8,
                        .n_text_layer = 6};

TEST(StoredShape, ReplacesTheDefaultsOfNewNetworks) {
  WhisperRecipe recipe;
  EXPECT_EQ(take_stored_shape(recipe, kBase), "") << "no other shape was requested";
  EXPECT_EQ(recipe.network.width, 512);
  EXPECT_EQ(recipe.network.heads, 8);
  EXPECT_EQ(recipe.network.encoder_layers, 6);
  EXPECT_EQ(recipe.network.decoder_layers, 6);
  EXPECT_EQ(recipe.network.window_seconds, 30);
  EXPECT_EQ(recipe.network.text_context, 448);
  EXPECT_EQ(take_stored_shape(recipe, kBase), "") << "as a resumed training reads it";
}

TEST(StoredShape, RequestedValuesThatDoNotApplyAreNamed) {
  WhisperRecipe recipe;
  recipe.network.width = 128;
  recipe.network.window_seconds = 10;
  EXPECT_EQ(take_stored_shape(recipe, kBase), "width 128 (it has 512), window-seconds 10 (it has 30)");
  EXPECT_EQ(recipe.network.window_seconds, 30);
}

}  // namespace
}  // namespace tutti
