// The real engine under the real supervision, on real speech.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/build_id.h"
#include "base/json.h"
#include "link/worker_handle.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"
#include "text/tokenizer.h"
#include "transcribe/pool/one_device.h"
#include "transcribe/pool/pooled_recording.h"

namespace tutti {
namespace {

/// The first window of a clip, and what the reference's segments say about it.
struct Clip {
  std::string name{};
  std::vector<float> mel{};
  std::int32_t frames = 0;
  std::vector<std::int32_t> tokens{};
  double avg_logprob = 0;
  double no_speech_prob = 0;
};

std::filesystem::path model_folder() {
  return digits_model();
}

Clip load_clip(const nlohmann::json& expected) {
  Clip clip{.name = expected["path"]};
  const auto recording = decode_recording(test_data() / clip.name).value();
  const LogMel log_mel(80);
  clip.frames = static_cast<std::int32_t>(std::min<std::int64_t>(LogMel::content_frames(recording), 3000));
  clip.mel = log_mel.window(recording, 0, clip.frames, log_mel.maximum(recording).value()).value();
  for (const auto& segment : expected["segments"]) {
    if (segment["seek"] != 0) continue;
    const std::vector<std::int32_t> tokens = segment["tokens"];
    clip.tokens.insert(clip.tokens.end(), tokens.begin(), tokens.end());
    clip.avg_logprob = segment["avg_logprob"];
    clip.no_speech_prob = segment["no_speech_prob"];
  }
  return clip;
}

/// Every clip of one window.
std::vector<Clip> load_clips() {
  const auto file = nlohmann::json::parse(std::ifstream(model_folder() / "expected.json"));
  std::vector<Clip> clips;
  for (const auto& expected : file["clips"]) {
    if (expected["path"].get<std::string>().find("/long-") == std::string::npos) clips.push_back(load_clip(expected));
  }
  return clips;
}

DecodeWindow request_for(WindowId window, const Tokenizer& tokenizer) {
  const auto& special = tokenizer.special();
  DecodeWindow request{.window = window,
                       .request = window,
                       .prompt = {special.sot},
                       .decoding = {.suppress_tokens = tokenizer.non_speech_tokens()}};
  for (const auto id :
       {special.transcribe, special.translate, special.sot, special.sot_prev, special.sot_lm, special.no_speech}) {
    request.decoding.suppress_tokens.push_back(id);
  }
  return request;
}

WorkerOptions engine_options(const std::string& compute_type, const std::vector<std::string>& more = {}) {
  WorkerOptions options{.command = {.words = {TUTTI_BINARY_DIR "/bin/tutti-engine", "worker", "--fd", "3"}},
                        .build_id = std::string(build_id()),
                        .model = {.model_path = model_folder(), .device = "cpu", .compute_type = compute_type}};
  options.command.words.insert(options.command.words.end(), more.begin(), more.end());
  return options;
}

/// Decodes all clips at once, each requested by a thread of its own.
std::vector<Decoded> decode_all(WindowEngine& worker, const std::vector<Clip>& clips) {
  const auto tokenizer = Tokenizer::load(model_folder()).value();
  std::vector<Decoded> answers(clips.size());
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    callers.emplace_back([&, i] {
      const auto& clip = clips[i];
      const auto opened = worker.open({.window = i + 1, .n_mels = 80, .frames = clip.frames}, clip.mel);
      ASSERT_TRUE(opened.has_value()) << opened.error().text();
      const auto decoded = worker.decode(request_for(i + 1, tokenizer));
      ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
      answers[i] = *decoded;
      worker.release(i + 1);
    });
  }
  return callers.clear(), answers;
}

void expect_reference(const std::vector<Decoded>& answers, const std::vector<Clip>& clips) {
  std::int32_t narrow = 0;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    // The reference may drop what follows the last pair of timestamps: that belongs to its next window.
    ASSERT_GE(answers[i].tokens.size(), clips[i].tokens.size()) << clips[i].name;
    const std::vector<std::int32_t> output(
        answers[i].tokens.begin(), answers[i].tokens.begin() + static_cast<std::ptrdiff_t>(clips[i].tokens.size()));
    EXPECT_EQ(output, clips[i].tokens) << clips[i].name;
    EXPECT_NEAR(answers[i].avg_logprob, clips[i].avg_logprob, 1e-3) << clips[i].name;
    EXPECT_NEAR(answers[i].no_speech_prob, clips[i].no_speech_prob, 1e-3) << clips[i].name;
    narrow += answers[i].narrow_margins;
  }
  std::cout << clips.size() << " windows, steps with a margin below 1e-4: " << narrow << '\n';
}

TEST(SupervisedEngine, ClipsDecodedTogetherEqualReferenceInFloat32) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const auto clips = load_clips();
  ASSERT_EQ(clips.size(), 10U);
  const auto worker = WorkerHandle::start(engine_options("float32")).value();
  const auto ready = worker->ready();
  ASSERT_TRUE(ready.has_value()) << ready.error().text();
  EXPECT_EQ(ready->n_mels, 80);
  expect_reference(decode_all(*worker, clips), clips);
}

class FaultyEngine : public testing::TestWithParam<const char*> {};

TEST_P(FaultyEngine, LosesNoWindow) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  auto clips = load_clips();
  clips.erase(clips.begin(), clips.end() - 2);
  const auto pool =
      DevicePool::start(plan_of_one({.id = "cpu", .worker = engine_options("float32", {"--fault", GetParam()})}));
  PooledRecording recording(*pool, {.id = 1});
  expect_reference(decode_all(recording.engine(), clips), clips);
  EXPECT_GE(pool->view().devices.front().restarts, 1);
}

// Each worker answers one decoding before it fails, so two clips take two workers.
INSTANTIATE_TEST_SUITE_P(ThatCrashesHangsOrGarbles, FaultyEngine,
                         testing::Values("crash-after=1", "hang-after=1", "garble-after=1"),
                         [](const auto& fault) { return std::string(fault.param, 4); });

TEST(SupervisedEngine, RefusesAModelWhoseWeightsAreIncomplete) {
  const TempFolder folder;
  put_model_without_embedding(folder.path());
  std::filesystem::remove(folder / "config.json");
  auto options = WorkerOptions{.command = {.words = {TUTTI_BINARY_DIR "/bin/tutti-engine", "worker", "--fd", "3"}},
                               .build_id = std::string(build_id()),
                               .model = {.model_path = folder.path(), .device = "cpu", .compute_type = "float32"}};
  const auto worker = WorkerHandle::start(std::move(options)).value();
  const auto ready = worker->ready();
  ASSERT_FALSE(ready.has_value());
  EXPECT_NE(ready.error().text().find("config.json"), std::string::npos) << ready.error().text();
}

TEST(SupervisedEngine, UnsupportedComputeTypeIsAUsageErrorThatNamesIt) {
  const auto worker = WorkerHandle::start(engine_options("int3")).value();
  const auto ready = worker->ready();
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().fault, Fault::usage);
  EXPECT_NE(ready.error().text().find("compute type int3"), std::string::npos) << ready.error().text();
}

}  // namespace
}  // namespace tutti
