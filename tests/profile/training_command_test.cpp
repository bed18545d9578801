// Where `tutti profile train` looks for the load of a training.

#include "profile/command/training_command.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_folder.h"

namespace tutti {
namespace {

class TrainProfileOf : public testing::Test {
 protected:
  /// "data, model" by the recipe and the flags.
  std::string devices(const std::string& recipe, const TrainingDevices& flags = {}, const char* task = "whisper") {
    const auto file = folder_ / "recipe.toml";
    std::ofstream(file) << recipe;
    const auto found = training_devices_of(task, file, flags);
    return found ? found->data + ", " + found->model : found.error().text();
  }
  const TempFolder folder_{};
};

TEST_F(TrainProfileOf, RecipeWithoutFlagsIsOnItsOwnDevices) {
  EXPECT_EQ(devices("device = \"cuda:1\"\ndata-gpu = \"cuda:0\""), "cuda:0, cuda:1");
  EXPECT_EQ(devices("device = \"cuda\"\ndata-gpu = \"model\""), "cuda:0, cuda:0");
  EXPECT_EQ(devices("device = \"cuda:1\""), "cpu, cuda:1") << "the feed's threads compute the features";
  EXPECT_EQ(devices(""), "cpu, cpu");
}

TEST_F(TrainProfileOf, FlagsComeBeforeTheRecipe) {
  const std::string recipe = "device = \"cuda:1\"\ndata-gpu = \"model\"";
  EXPECT_EQ(devices(recipe, {.model = "2"}), "cuda:2, cuda:2") << "where the model is has changed";
  EXPECT_EQ(devices(recipe, {.data = "0"}), "cuda:0, cuda:1");
  EXPECT_EQ(devices("devices = \"cuda:0,cuda:1\""), "cpu, cuda:0,cuda:1");
  EXPECT_EQ(devices("devices = \"cuda:0,cuda:1\"", {.model = "cpu"}), "cpu, cpu");
}

TEST_F(TrainProfileOf, VoiceAndClassifierAreWhereTheirRecipesSay) {
  EXPECT_EQ(devices("device = \"cuda:1\"\ndata-gpu = \"cpu:0\"", {}, "tts"), "cpu:0, cuda:1");
  EXPECT_EQ(devices("", {.data = "model", .model = "cpu:1"}, "tts"), "cpu:1, cpu:1");
  EXPECT_EQ(devices("device = \"cuda:1\"", {}, "classifier"), "cpu, cuda:1");
  EXPECT_EQ(devices("device = \"cuda:1\"\nvoice = \"v\"", {}, "vocoder"), "cpu, cuda:1");
}

TEST_F(TrainProfileOf, UnreadableRecipeIsRefused) {
  EXPECT_NE(devices("devise = \"cuda:1\"").find("device"), std::string::npos);
  EXPECT_FALSE(training_devices_of("whisper", folder_ / "none.toml", {}));
}

}  // namespace
}  // namespace tutti
