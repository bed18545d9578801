// Word alignment on real speech, against openai-whisper's find_alignment (tools/golden/alignment.py).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/json.h"
#include "support/test_data.h"
#include "worker/network.h"

namespace tutti {
namespace {

at::Tensor padded(const std::vector<float>& mel, std::int64_t frames) {
  auto window = at::zeros({80, 3000}, at::kFloat);
  window.narrow(1, 0, frames).copy_(at::tensor(mel, at::kFloat).view({80, frames}));
  return window;
}

/// How far the starts of a clip's tokens are from the reference's.
struct Found {
  std::size_t tokens = 0;
  std::size_t moved = 0;      // by any step
  std::int32_t farthest = 0;  // steps
  double largest_gap = 0;     // between probabilities
  double sum_of_gaps = 0;
};

void compare(const TokenTimes& ours, const nlohmann::json& theirs, Found& found) {
  const std::vector<std::int32_t> starts = theirs["starts"];
  const std::vector<float> probabilities = theirs["probabilities"];
  ASSERT_EQ(ours.starts.size(), starts.size());
  ASSERT_EQ(ours.probabilities.size(), probabilities.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto gap = std::abs(ours.starts[i] - starts[i]);
    ++found.tokens;
    found.moved += gap > 0 ? 1 : 0;
    found.farthest = std::max(found.farthest, gap);
  }
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double gap = std::abs(ours.probabilities[i] - probabilities[i]);
    found.largest_gap = std::max(found.largest_gap, gap);
    found.sum_of_gaps += gap;
  }
}

Found align_clips(const LoadedModel& model) {
  const auto file = nlohmann::json::parse(std::ifstream(TUTTI_SOURCE_DIR "/tests/data/decode/alignment.json"));
  const LogMel log_mel(80);
  Found found;
  for (const auto& clip : file["clips"]) {
    const auto recording = decode_recording(test_data() / clip["path"].get<std::string>()).value();
    const auto maximum = log_mel.maximum(recording).value();
    for (const auto& window : clip["windows"]) {
      const std::int64_t frames = window["frames"];
      const auto mel = log_mel.window(recording, window["seek"], frames, maximum).value();
      const auto kv = model.network->encode(padded(mel, frames));
      const AlignmentText text{
          .sot_sequence = window["sot_sequence"], .text = window["text"], .frames = static_cast<std::int32_t>(frames)};
      EXPECT_TRUE(check(text, model.tokens, model.network->dims()).has_value());
      SCOPED_TRACE(clip["path"].get<std::string>());
      compare(model.network->align(kv, text, model.tokens).value(), window, found);
    }
  }
  EXPECT_GT(found.tokens, 80U);
  return found;
}

Result<LoadedModel> load_tiny(const std::string& compute_type) {
  return load_model({.model_path = test_data() / "whisper-tiny.en", .device = "cpu", .compute_type = compute_type});
}

TEST(Alignment, InFloat32EveryTokenStartsWhereTheReferenceStartsIt) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto found = align_clips(load_tiny("float32").value());
  EXPECT_EQ(found.moved, 0U) << "of " << found.tokens << ", by at most " << found.farthest;
  EXPECT_LT(found.largest_gap, 1e-4);
}

TEST(Alignment, InOtherTypesFewTokensMove) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  for (const std::string type : {"bfloat16", "int8"}) {
    const auto model = load_tiny(type);
    if (!model && model.error().fault == Fault::unsupported) continue;
    const auto found = align_clips(model.value());
    std::printf("%s: %zu of %zu tokens moved, by at most %d steps\n", type.c_str(), found.moved, found.tokens,
                found.farthest);
    EXPECT_LT(static_cast<double>(found.moved), 0.25 * static_cast<double>(found.tokens)) << type;
    EXPECT_LT(found.sum_of_gaps, 0.05 * static_cast<double>(found.tokens)) << type;
  }
}

}  // namespace
}  // namespace tutti
