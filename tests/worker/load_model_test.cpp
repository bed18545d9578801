#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"
#include "support/temp_folder.h"
#include "worker/network.h"

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

TEST(LoadModel, RefusesATokenizerWhoseTokensLieOutsideTheVocabulary) {
  const auto model = loaded_with_eot("900000");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().fault, Fault::corrupt);
  EXPECT_THAT(model.error().text(), HasSubstr("<|endoftext|> is token 900000, the model's vocabulary has 1765"));
}
