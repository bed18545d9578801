#include "hub/files_of_model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "support/temp_folder.h"

namespace tutti {
namespace {

constexpr std::int64_t kLarge = 16 << 20, kSmall = 100'000;

/// A model whose weights are zeros but for `changed` bytes at `at`.
std::filesystem::path model_of(const std::filesystem::path& folder, std::int64_t size, std::int64_t at = 0,
                               std::int64_t changed = 0) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << "{}";
  std::string weights(static_cast<std::size_t>(size), '\0');
  weights.replace(static_cast<std::size_t>(at), static_cast<std::size_t>(changed), static_cast<std::size_t>(changed),
                  'x');
  std::ofstream(folder / "model.safetensors", std::ios::binary) << weights;
  return folder;
}

std::string digest(const std::filesystem::path& model) {
  return digest_of_model(model).value();
}

TEST(DigestOfModel, IsThatOfTheContentsWhereverTheyAre) {
  const TempFolder folder;
  EXPECT_EQ(digest(model_of(folder / "a", kLarge)), digest(model_of(folder / "b", kLarge)));
  EXPECT_NE(digest(folder / "a"), digest(model_of(folder / "shorter", kLarge - 1)));
  std::ofstream(folder / "b" / "config.json") << "{ }";
  EXPECT_NE(digest(folder / "a"), digest(folder / "b")) << "a small file";
  std::ofstream(folder / "a" / "notes.txt") << "no file of a model";
  EXPECT_EQ(digest(folder / "a"), digest(model_of(folder / "b", kLarge)));
}

TEST(DigestOfModel, IsAnotherWhereALayerInTheMiddleWasTrained) {
  const TempFolder folder;
  const std::string before = digest(model_of(folder / "a", kLarge));
  for (const std::int64_t at : {kLarge / 7, kLarge / 2, kLarge - (1 << 17)})
    EXPECT_NE(digest(model_of(folder / "tuned", kLarge, at, 1 << 17)), before) << at;  // a layer of 128 KiB
}

TEST(DigestOfModel, ReadsEveryByteOfASmallFile) {
  const TempFolder folder;
  const std::string before = digest(model_of(folder / "a", kSmall));
  for (std::int64_t at = 0; at < kSmall; at += 9'999)
    EXPECT_NE(digest(model_of(folder / "tuned", kSmall, at, 1)), before) << at;
  EXPECT_NE(digest(model_of(folder / "tuned", kSmall, kSmall - 1, 1)), before);
}

TEST(DigestOfModel, AFileThatCannotBeReadIsNamed) {
  const TempFolder folder;
  model_of(folder / "a", kSmall);
  std::filesystem::remove(folder / "a" / "model.safetensors");
  std::filesystem::create_directory(folder / "a" / "model.safetensors");
  const auto digest = digest_of_model(folder / "a");
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().fault, Fault::unavailable);
  EXPECT_NE(digest.error().what.find("model.safetensors"), std::string::npos);
}

}  // namespace
}  // namespace tutti
