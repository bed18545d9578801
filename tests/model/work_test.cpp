#include "model/work.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

WhisperDims dims(std::int32_t state, std::int32_t layers, std::int32_t mels, std::int32_t vocabulary) {
  return {.n_mels = mels,
          .n_audio_state = state,
          .n_audio_layer = layers,
          .n_vocab = vocabulary,
          .n_text_state = state,
          .n_text_layer = layers};
}

// The expected figures are the published ones of the models, in 16 bits: GFLOP and MB.
TEST(WhisperWork, IsWhatTheModelsAreKnownToNeed) {
  const auto tiny = work_of(dims(384, 4, 80, 51865));
  EXPECT_NEAR(tiny.window_flops / 1e9, 36.9 + 3.54, 0.1);
  EXPECT_NEAR(tiny.token_weights * 2 / 1e6, 56.3, 0.1);
  EXPECT_NEAR(tiny.sequence_numbers * 2 / 1e6, 9.22, 0.01);
  const auto large = work_of(dims(1280, 32, 128, 51866));
  EXPECT_NEAR(large.window_flops / 1e9, 2273.8 + 314.57, 2.5);
  EXPECT_NEAR(large.token_weights * 2 / 1e6, 1600.8, 1);
  EXPECT_NEAR(large.sequence_numbers * 2 / 1e6, 245.76, 0.01);
}

}  // namespace
}  // namespace tutti
