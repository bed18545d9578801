#include "cli/training/recipe_keys.h"

#include <gmock/gmock.h>

#include "cli/training/trainer_names.h"

namespace tutti {
namespace {

Result<LoaderFlags> spellings(const std::vector<std::string>& words) {
  auto others = without_loader_flags(words, "dataloader_", 0);
  if (!others) return others;
  auto ours = in_our_names(others->words);
  if (!ours) return tl::unexpected<Error>(ours.error());
  others->words = std::move(*ours);
  return others;
}

std::string in_our_keys(const std::string& toml) {
  const std::vector<std::string> known{"batch-size", "epochs", "precision", "ring-depth", "model", "max-steps"};
  const auto text = recipe_in_our_keys(toml, "r.toml", known, spellings);
  return text ? *text : text.error().text();
}

TEST(RecipeKeys, UnderscoresAreHyphens) {
  EXPECT_EQ(in_our_keys("batch_size = 4  # small\nmodel = \"a = b\"\n"), "batch-size = 4  # small\nmodel = \"a = b\"");
}

TEST(RecipeKeys, NamesOfOtherTrainersBecomeOursOnTheirLine) {
  EXPECT_EQ(in_our_keys("# mine\nnum_train_epochs = 2\n\nmodel_name = \"tiny\" # it\nbf16 = true\ntf32 = false"),
            "# mine\nepochs = 2\n\nmodel = \"tiny\" # it\nprecision = \"bfloat16\"\n");
  EXPECT_EQ(in_our_keys("max_steps = -1"), "max-steps = 0");
}

TEST(RecipeKeys, LoaderSettingsAreAnsweredAndLeftOut) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(in_our_keys("dataloader_pin_memory = true\ndataloader_prefetch_factor = 5\nepochs = 1"),
            "\nring-depth = 5\nepochs = 1");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("pin-memory: no effect"));
}

TEST(RecipeKeys, UnknownKeysStayForTheStrictReader) {
  EXPECT_EQ(in_our_keys("bach_size = 4\n[table]\nx = 1"), "bach_size = 4\n[table]\nx = 1");
}

TEST(RecipeKeys, InvalidValueIsNamedWithItsLine) {
  EXPECT_THAT(in_our_keys("epochs = 1\ndataloader_prefetch_factor = 0"), testing::HasSubstr("r.toml:2"));
}

}  // namespace
}  // namespace tutti
