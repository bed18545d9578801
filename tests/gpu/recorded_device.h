#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "decode/decoding_tokens.h"
#include "model/gpu.h"
#include "model/whisper.h"
#include "support/recording_cuda/recording_cuda.h"

namespace tutti {

constexpr WhisperDims kRecordedDims{.n_mels = 16,
                                    .n_audio_ctx = 48,
                                    .n_audio_state = 128,
                                    .n_audio_head = 2,
                                    .n_audio_layer = 1,
                                    .n_vocab = 400,
                                    .n_text_ctx = 448,
                                    .n_text_state = 128,
                                    .n_text_head = 2,
                                    .n_text_layer = 3};
inline const DecodingTokens kRecordedTokens{
    .eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

/// Loads the project's CUDA half before torch looks for CUDA: it remembers for good where there is none.
class LoadsCuda : public testing::Environment {
  void SetUp() override { ASSERT_EQ(gpu::count(), 1) << "libtutti-cuda.so did not find the recording CUDA"; }
};
inline testing::Environment* const kLoadsCuda = testing::AddGlobalTestEnvironment(new LoadsCuda);

inline const at::Device kRecordedDevice{at::kCUDA, 0};

/// A network on it, of no weights: nothing is computed.
inline WhisperModel recorded_model(ComputeType type) {
  return WhisperModel::random(kRecordedDims, kRecordedDevice, type);
}

}  // namespace tutti
