// Beam search on real speech, against openai-whisper's DecodingTask (tools/golden/beam.py).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/json.h"
#include "decode/batcher.h"
#include "support/test_data.h"
#include "worker/network.h"

namespace tutti {
namespace {

using nlohmann::json;

std::shared_ptr<const CrossKv> encoded(const LoadedModel& model, const json& search) {
  const LogMel log_mel(80);
  const std::int64_t frames = search["frames"];
  const auto recording = decode_recording(test_data() / search["path"].get<std::string>()).value();
  const auto mel = log_mel.window(recording, 0, frames, log_mel.maximum(recording).value()).value();
  auto window = at::zeros({80, 3000}, at::kFloat);
  window.narrow(1, 0, frames).copy_(at::tensor(mel, at::kFloat).view({80, frames}));
  return std::make_shared<const CrossKv>(model.network->encode(window));
}

SequenceRequest job_of(const json& search, const json& suppress) {
  return {.prompt = search["prompt"],
          .sot_index = search["sot_index"],
          .max_tokens = search["max_tokens"],
          .decoding = {.beam_size = search["beam_size"].get<std::int32_t>(),
                       .patience = search["patience"].get<double>(),
                       .length_penalty = search["length_penalty"].get<double>(),
                       .suppress_tokens = suppress,
                       .timestamps = search["timestamps"]}};
}

TEST(BeamClips, EverySearchOfEveryClipEqualsReferenceInFloat32) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto file = json::parse(std::ifstream(TUTTI_SOURCE_DIR "/tests/data/decode/beam.json"));
  const auto& searches = file["clips"];
  const auto model =
      load_model({.model_path = test_data() / "whisper-tiny.en", .device = "cpu", .compute_type = "float32"}).value();
  Batcher batcher(model.tokens, model.network->dims().n_text_ctx, Clock::real());
  std::map<std::string, std::shared_ptr<const CrossKv>> windows;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    auto& window = windows[searches[i]["path"]];
    if (!window) window = encoded(model, searches[i]);
    auto job = job_of(searches[i], file["suppress"]);
    job.request = i;
    job.window = window;
    batcher.submit(std::move(job));
  }
  const auto stepper = model.network->make_stepper(20);  // four at a time
  std::int32_t narrow = 0;
  std::size_t answers = 0;
  while (!batcher.idle()) {
    for (const auto& finished : batcher.step(*stepper)) {
      const auto& expected = searches[finished.request];
      const auto& outcome = finished.outcome.value();
      EXPECT_EQ(outcome.tokens, expected["tokens"].get<std::vector<std::int32_t>>()) << expected["path"];
      EXPECT_NEAR(outcome.avg_logprob, expected["avg_logprob"].get<double>(), 1e-4) << expected["path"];
      EXPECT_NEAR(outcome.no_speech_prob, expected["no_speech_prob"].get<double>(), 1e-4) << expected["path"];
      narrow += outcome.narrow_margins;
      ++answers;
    }
  }
  EXPECT_EQ(answers, searches.size());
  std::printf("%zu searches with five beams, %d steps decided by less than 1e-4\n", answers, narrow);
}

}  // namespace
}  // namespace tutti
