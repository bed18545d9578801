#include "model/work.h"

#include <gtest/gtest.h>

#include "model/cpu/matrix/packed_matrix.h"
#include "model/weights.h"

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

TEST(StepBytes, PlainTypeCountsItsValues) {
  const auto tiny = dims(384, 4, 80, 51865);
  const auto work = work_of(tiny);
  const auto half = step_bytes(tiny, at::Device(at::kCUDA, 0), ComputeType::float16);
  EXPECT_DOUBLE_EQ(half.weights, 2 * work.token_weights);
  EXPECT_DOUBLE_EQ(half.window, 2 * work.sequence_numbers);
  EXPECT_DOUBLE_EQ(half.token, 4 * 2 * 384 * 2);
  EXPECT_DOUBLE_EQ(step_bytes(tiny, at::kCPU, ComputeType::float32).weights, 4 * work.token_weights);
}

TEST(StepBytes, Int8OnGpuReadsWindowsIn1ByteAndOutputIn2) {
  const auto tiny = dims(384, 4, 80, 51865);
  const auto found = step_bytes(tiny, at::Device(at::kCUDA, 0), ComputeType::int8_float16);
  const double square = 384 * 384;
  EXPECT_DOUBLE_EQ(found.weights, 4 * (3 * 2 + 11) * square + 51865 * 384.0 * 2);
  EXPECT_DOUBLE_EQ(found.window, 1.0625 * work_of(tiny).sequence_numbers);
  EXPECT_EQ(sizes_on(at::kCPU, ComputeType::int8).cross,
            layout_of(ComputeType::int8, at::kCPU).byte_cross ? kByteCross : 2);
}

// Counting the vocabulary in sixteen bits would make the least time longer, and what was reached look nearer to it.
TEST(StepBytes, OwnKernelsReadVocabularyInInt8UnlessFloat32) {
  const auto tiny = dims(384, 4, 80, 51865);
  const double square = 384 * 384, vocabulary = 51865 * 384.0;
  if (!layout_of(ComputeType::int8, at::kCPU).own_kernels)
    GTEST_SKIP() << "another machine: there are no kernels for this processor";
  EXPECT_DOUBLE_EQ(step_bytes(tiny, at::kCPU, ComputeType::float32).weights, 4 * (14 * 4 * square + vocabulary));
  EXPECT_DOUBLE_EQ(step_bytes(tiny, at::kCPU, ComputeType::bfloat16).weights, 2 * 14 * 4 * square + vocabulary);
  EXPECT_DOUBLE_EQ(step_bytes(tiny, at::kCPU, ComputeType::int8).weights, 4 * (3 * 2 + 11) * square + vocabulary);
}

/// Of a layer as the kernels read it.
double packed_bytes(const ops::Linear& layer) {
  return static_cast<double>(layer.packed->panels.size());
}

TEST(StepBytes, AreThoseOfTheLayersAsTheyWerePacked) {
  if (!layout_of(ComputeType::int8, at::kCPU).own_kernels)
    GTEST_SKIP() << "another machine: there are no kernels for this processor";
  WhisperDims small = dims(128, 2, 80, 1024);  // whole tiles and panels: nothing is filled up
  small.n_audio_head = small.n_text_head = 2;
  for (const ComputeType type : {ComputeType::float32, ComputeType::bfloat16, ComputeType::int8}) {
    auto net = random_weights(openai_shape(small));
    prepare(net, type, at::kCPU);
    double bytes = packed_bytes(net.output);
    for (const auto& block : net.decoder)
      for (const auto* layer :
           {&block.attn.joined, &block.attn.out, &block.cross.query, &block.cross.out, &block.mlp_in, &block.mlp_out})
        bytes += packed_bytes(*layer);
    EXPECT_DOUBLE_EQ(step_bytes(small, at::kCPU, type).weights, bytes) << type.name();
  }
}

}  // namespace
}  // namespace tutti
