#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "model/whisper.h"
#include "text/tokenizer.h"
#include "train/evaluation/scores.h"

namespace tutti {

/// Windows that are decoded together, as many as a batch of the feed has.
inline constexpr std::int32_t kDecodedTogether = 8;

struct SetDecodingOptions {
  std::vector<std::int32_t> sot_sequence{};
  bool timestamps = false;
  std::function<bool()> interrupted{};  // called between two steps; true ends it with Fault::cancelled
};

/// Tokens that are decoded behind a prompt at most: those of the longest text that is learned behind it, and its end.
constexpr std::int32_t most_tokens(std::int32_t n_text_ctx, std::size_t prompt) {
  return std::max(1, n_text_ctx - static_cast<std::int32_t>(prompt) + 1);
}

/// What the model writes down for every sample of a set, in the order of the set, by the decoder that transcribes
/// (decode/batcher), greedily and one window a sample. `batches` hold whole windows; the first field of a sample, where
/// there is one, is its condition. Waits for the device.
Result<std::vector<SampleResult>> decode_set(const WhisperModel& model, const Tokenizer& tokenizer,
                                             const SetDecodingOptions& options, const NextBatch& batches);

}  // namespace tutti
