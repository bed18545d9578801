// What is checked of the folder of a training before it begins.

#include "recipe/training_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

class TrainingFolder : public testing::Test {
 protected:
  void write(const std::filesystem::path& name) const {
    ASSERT_TRUE(make_folders((folder_ / name).parent_path()));
    ASSERT_TRUE(write_file_atomically(folder_ / name, "x"));
  }
  std::string fault(std::vector<std::filesystem::path> sources = {}, bool resumes = false) const {
    const auto checked = expect_training_folder(folder_ / "out", std::move(sources), resumes);
    return checked ? "" : checked.error().text();
  }
  const TempFolder folder_{};
};

TEST_F(TrainingFolder, NewOrEmptyOneIsTaken) {
  EXPECT_EQ(fault(), "");
  ASSERT_TRUE(make_folders(folder_ / "out/checkpoints"));
  EXPECT_EQ(fault({folder_ / "set"}), "");
}

TEST_F(TrainingFolder, FileOfTheUsersIsNotReplaced) {
  write("out/metrics.jsonl");
  EXPECT_THAT(fault(), HasSubstr("metrics.jsonl is there already and is none of this training"));
  write("out/checkpoints/step-5/training.json");
  EXPECT_EQ(fault(), "") << "a training was begun there";
}

TEST_F(TrainingFolder, SourceIsNeverWrittenOnto) {
  write("out/checkpoints/step-5/training.json");
  write("out/config.toml");
  EXPECT_THAT(fault({folder_ / "out/config.toml"}), HasSubstr("is an input itself"));
  EXPECT_EQ(fault({folder_ / "out/config.toml"}, /*resumes=*/true), "") << "its own settings";
  EXPECT_THAT(fault({folder_ / "out"}), HasSubstr("is read, and not to be filled"));
}

TEST_F(TrainingFolder, NamedCheckpointHasToBeTheNewest) {
  for (const char* step : {"step-5", "step-7"})
    write(std::filesystem::path("out/checkpoints") / step / "training.json");
  const auto out = folder_ / "out";
  EXPECT_TRUE(expect_newest_checkpoint(out, out / "checkpoints/step-7"));
  EXPECT_THAT(expect_newest_checkpoint(out, out / "checkpoints/step-5").error().what, HasSubstr("a newer one, step-7"));
  EXPECT_THAT(expect_newest_checkpoint(out, out / "checkpoints/step-9").error().what, HasSubstr("no checkpoint"));
  EXPECT_THAT(expect_set_unused(out).error().what, HasSubstr("holds a training already"));
}

}  // namespace
}  // namespace tutti
