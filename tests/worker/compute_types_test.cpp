// How far the fast compute types are from float32, on real speech.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/json.h"
#include "decode/logit_rules.h"
#include "model/whisper.h"
#include "support/test_data.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

/// A window of a clip and its tokens: start of transcript and the reference's tokens in float32.
struct Speech {
  at::Tensor mel{};
  std::vector<std::int32_t> tokens{};
};

std::filesystem::path model_folder() {
  return test_data() / "whisper-tiny.en";
}

void add_windows(const nlohmann::json& clip, std::vector<Speech>& windows) {
  constexpr std::int32_t kStartOfTranscript = 50257;
  std::map<std::int64_t, std::vector<std::int32_t>> tokens;  // by first frame
  for (const auto& segment : clip["segments"]) {
    const std::vector<std::int32_t> output = segment["tokens"];
    auto& all = tokens.try_emplace(segment["seek"], std::vector{kStartOfTranscript}).first->second;
    all.insert(all.end(), output.begin(), output.end());
  }
  const auto recording = decode_recording(test_data() / clip["path"].get<std::string>()).value();
  const LogMel log_mel(80);
  const auto maximum = log_mel.maximum(recording).value();
  for (auto& [seek, output] : tokens) {
    const auto frames = std::min<std::int64_t>(LogMel::content_frames(recording) - seek, 3000);
    auto values = log_mel.window(recording, seek, frames, maximum).value();
    auto mel = at::zeros({80, 3000});
    mel.narrow(1, 0, frames).copy_(at::from_blob(values.data(), {80, frames}));
    windows.push_back({mel, std::move(output)});
  }
}

std::vector<Speech> all_speech() {
  const auto file = nlohmann::json::parse(std::ifstream(model_folder() / "expected.json"));
  std::vector<Speech> windows;
  for (const auto& clip : file["clips"]) add_windows(clip, windows);
  return windows;
}

/// A network's encoder states for a window, and its likeliest token after every token of the path.
struct Opinion {
  at::Tensor encoded{};
  at::Tensor likeliest{};
};

/// The rules of a first decoding of English.
DecodingOptions rules() {
  const auto tokenizer = Tokenizer::load(model_folder()).value();
  const auto& special = tokenizer.special();
  DecodingOptions options{.suppress_tokens = tokenizer.non_speech_tokens()};
  for (const auto id :
       {special.transcribe, special.translate, special.sot, special.sot_prev, special.sot_lm, special.no_speech}) {
    options.suppress_tokens.push_back(id);
  }
  return options;
}

/// The likeliest allowed token after each of the path. logits: [path, n_vocab].
at::Tensor choices(at::Tensor logits, std::span<const std::int32_t> path) {
  static const auto options = rules();
  static const DecodingTokens tokens{
      .eot = 50256, .timestamp_begin = 50363, .no_timestamps = 50362, .no_speech = 50361, .blank = {220}};
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    auto line = logits[row];
    const std::span values(line.mutable_data_ptr<float>(), static_cast<std::size_t>(line.numel()));
    apply_logit_rules(values, path.subspan(1, static_cast<std::size_t>(row)), options, tokens);
  }
  return logits.argmax(1);
}

std::vector<Opinion> opinions(ComputeType type, const std::vector<Speech>& windows) {
  const c10::InferenceMode guard;
  const auto model = WhisperModel::load(model_folder(), at::kCPU, type).value();
  auto cache = model.make_self_kv(1);
  std::vector<Opinion> all;
  for (const auto& window : windows) {
    const auto encoded = model.encode(window.mel);
    const auto kv = model.cross_kv(encoded);
    const SequenceStep path[] = {{.tokens = window.tokens, .window = &kv}};
    all.push_back({encoded.to(at::kFloat), choices(model.decode(path, cache), window.tokens)});
  }
  return all;
}

class FastTypeLong : public testing::TestWithParam<ComputeType::Kind> {};

INSTANTIATE_TEST_SUITE_P(OnTheCpu, FastTypeLong, testing::Values(ComputeType::bfloat16, ComputeType::int8),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

TEST_P(FastTypeLong, AgreesWithFloat32AlongItsTokens) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto windows = all_speech();
  const auto wanted = opinions(ComputeType::float32, windows);
  const auto found = opinions(GetParam(), windows);
  std::int64_t agreed = 0;
  std::int64_t steps = 0;
  double least = 1;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    agreed += (wanted[i].likeliest == found[i].likeliest).sum().item<std::int64_t>();
    steps += wanted[i].likeliest.size(0);
    const auto cosine = at::cosine_similarity(wanted[i].encoded.flatten(), found[i].encoded.flatten(), 0);
    least = std::min(least, cosine.item<double>());
  }
  std::cout << windows.size() << " windows, " << steps << " steps, " << agreed << " agreed; least cosine " << least
            << '\n';
  EXPECT_GE(static_cast<double>(agreed), 0.97 * static_cast<double>(steps));
  EXPECT_GE(least, 0.999);
}

}  // namespace
}  // namespace tutti
