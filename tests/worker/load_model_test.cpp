#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"
#include "decode/batcher.h"
#include "support/temp_folder.h"
#include "worker/network.h"
#include "worker/worker_harness.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

/// The model that comes with the program, with the end's id changed.
Result<LoadedModel> loaded_with_eot(const std::string& id) {
  const TempFolder folder;
  const auto model = folder / "nano";
  std::filesystem::copy(std::filesystem::path(TUTTI_SOURCE_DIR) / "models/nano", model);
  auto tokenizer = read_file(model / "tokenizer.json").value();
  const std::string usual = R"({"id":256,"content":"<|endoftext|>")";
  tokenizer.replace(tokenizer.find(usual), usual.size(), R"({"id":)" + id + R"(,"content":"<|endoftext|>")");
  EXPECT_TRUE(write_file_atomically(model / "tokenizer.json", tokenizer));
  return load_model({.model_path = model, .device = "cpu", .compute_type = "float32"});
}

}  // namespace

TEST(LoadModel, TakesTheSmallVocabularyOfTheModelThatComesWithTheProgram) {
  const auto model = loaded_with_eot("256");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->tokens.eot, 256);
}

TEST(LoadModel, TimesAWindowOnlyOnRequest) {
  LoadModel request{.model_path = TUTTI_SOURCE_DIR "/models/nano", .device = "cpu", .compute_type = "float32"};
  EXPECT_EQ(load_model(request).value().window_seconds, 0);
  request.time_a_window = true;
  const auto begun = Clock::real().now();
  const auto model = load_model(request).value();
  EXPECT_GT(model.window_seconds, 0);
  EXPECT_LT(model.window_seconds, Seconds(Clock::real().now() - begun).count()) << "it was part of the loading";
}

TEST(LoadModel, ShorterSlotsChangeNoBitOfAnyText) {
  // Prompts without earlier text, the model's usual number of sampled tokens, greedy, beams and draws.
  const auto decode = [](std::int32_t text_positions) {
    auto model = load_model({.model_path = TUTTI_SOURCE_DIR "/models/nano",
                             .device = "cpu",
                             .compute_type = "float32",
                             .text_positions = text_positions})
                     .value();
    const auto& network = *model.network;
    EXPECT_EQ(network.text_positions(), text_positions > 0 ? text_positions : network.dims().n_text_ctx);
    at::manual_seed(4);
    const auto stepper = model.network->make_stepper(8);
    Batcher batcher(model.tokens, network.text_positions(), Clock::real());
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto mel = at::randn({network.dims().n_mels, 2 * std::int64_t{network.dims().n_audio_ctx}});
      SequenceRequest job{.request = i,
                          .window = std::make_shared<const CrossKv>(model.network->encode(mel)),
                          .prompt = {model.sot},
                          .temperature = i == 2 ? 0.8F : 0.0F,
                          .max_tokens = network.dims().n_text_ctx / 2,
                          .decoding = {.beam_size = i == 1 ? 2 : 0, .seed = i}};
      EXPECT_TRUE(check(job, network.dims(), network.text_positions()));
      batcher.submit(std::move(job));
    }
    std::map<std::uint64_t, std::pair<std::vector<std::int32_t>, double>> texts;
    while (!batcher.idle())
      for (const auto& finished : batcher.step(*stepper))
        texts[finished.request] = {finished.outcome.value().tokens, finished.outcome.value().sum_logprob};
    EXPECT_EQ(texts.size(), 3U);
    return texts;
  };
  EXPECT_EQ(decode(104), decode(0));
}

TEST(LoadModel, RefusesARequestThatShorterSlotsCannotHold) {
  WorkerHere worker([](const LoadModel& request) { return load_model(request); });
  worker.control->expect<Hello>();
  worker.control->send(LoadModel{.model_path = TUTTI_SOURCE_DIR "/models/nano",
                                 .device = "cpu",
                                 .compute_type = "float32",
                                 .batch_size = 2,
                                 .text_positions = 104});
  EXPECT_EQ(worker.control->expect<Ready>().n_text_ctx, 192) << "prompts are cut as before";
  const std::vector<float> mel(80 * 10);
  worker.control->open(1, 80, 10, mel);
  worker.control->expect<Opened>();
  DecodeWindow request{.window = 1, .request = 7, .prompt = std::vector<std::int32_t>(10, 257), .max_tokens = 96};
  worker.control->send(request);
  const auto refused = worker.control->expect<Failed>();
  EXPECT_EQ(refused.request, 7U);
  EXPECT_EQ(refused.fault, Fault::usage);
  EXPECT_THAT(refused.what, HasSubstr("need 105 text positions, this worker's slots have 104"));
  request.prompt.pop_back();
  worker.control->send(request);
  EXPECT_EQ(worker.control->expect<Decoded>().request, 7U);
}

TEST(LoadModel, RefusesATokenizerWhoseTokensLieOutsideTheVocabulary) {
  const auto model = loaded_with_eot("900000");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().fault, Fault::corrupt);
  EXPECT_THAT(model.error().text(), HasSubstr("<|endoftext|> is token 900000, the model's vocabulary has 1765"));
}
