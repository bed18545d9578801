#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>

#include "base/files.h"
#include "base/json.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"
#include "train/checkpoint/background_writer.h"
#include "train/checkpoint/folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A folder with one file.
void make(const fs::path& folder, const std::string& content) {
  ASSERT_TRUE(write_file_atomically(folder / "training.json", content));
}

std::string content_of(const fs::path& folder) {
  return read_file(folder / "training.json").value_or("nothing");
}

TEST(CheckpointFolder, WithoutExchangeRenamesReplaceTheOldFolder) {
  const TempFolder out;
  make(out / ".new-step-1", "first");
  ASSERT_TRUE(replace_by_renames(out / ".new-step-1", out / "step-1"));
  EXPECT_EQ(content_of(out / "step-1"), "first");
  make(out / ".new-step-1", "second");
  ASSERT_TRUE(replace_by_renames(out / ".new-step-1", out / "step-1"));
  EXPECT_EQ(content_of(out / "step-1"), "second");
  EXPECT_FALSE(fs::exists(out / ".old-step-1"));
  EXPECT_FALSE(replace_by_renames(out / "missing", out / "step-1"));
  EXPECT_EQ(content_of(out / "step-1"), "second") << "it was put back";
}

TEST(CheckpointFolder, LeftoversAreRemovedAndAnOnlyCopyIsRestored) {
  const TempFolder out;
  make(out / "checkpoints/.old-step-00000002", "only copy");
  make(out / "checkpoints/.new-step-00000002", "half");
  make(out / "checkpoints/step-00000001", "whole");
  make(out / "checkpoints/.old-step-00000001", "older");
  make(out / "checkpoints/.gone-step-00000000", "pruned");
  make(out / ".old-model", "model");
  const CheckpointFolder checkpoints(out.path());
  checkpoints.put_back();
  EXPECT_EQ(checkpoints.newest_first().front(), out / "checkpoints/step-00000002");
  checkpoints.clear_leftovers();
  EXPECT_EQ(content_of(out / "checkpoints/step-00000002"), "only copy");
  EXPECT_EQ(content_of(out / "checkpoints/step-00000001"), "whole");
  EXPECT_EQ(content_of(out / "model"), "model");
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(out / "checkpoints")) left += entry.is_directory() ? 1 : 0;
  EXPECT_EQ(left, 2U);
}

TEST(CheckpointFolder, UnreadableCheckpointsAreSetAsideAndNotCounted) {
  const TempFolder out;
  make(out / "checkpoints/step-00000002", "read");
  make(out / "checkpoints/step-00000004", "damaged");
  const CheckpointFolder checkpoints(out.path());
  checkpoints.set_aside_behind(2);
  EXPECT_EQ(content_of(out / "checkpoints/damaged-step-00000004"), "damaged");
  make(out / "checkpoints/step-00000003", "next");
  checkpoints.prune(/*keep=*/1, /*best=*/0);
  EXPECT_EQ(checkpoints.newest_first(), std::vector{out / "checkpoints/step-00000003"});
}

TEST(CheckpointFolder, LaterStateIsAddedWithoutRewritingTensors) {
  const TempFolder out;
  const CheckpointFolder checkpoints(out.path());
  ASSERT_TRUE(checkpoints.write({.network = {.files = {{"config.json", "{}"}}, .weights = {{"weight", at::ones({3})}}},
                                 .training = {{"moment", at::zeros({3})}},
                                 .state = {.step = 2, .evaluation_due = true}}));
  const auto folder = checkpoints.of_step(2);
  for (const char* file : {"model.safetensors", "training.safetensors"})
    fs::create_hard_link(folder / file, out / file);
  ASSERT_TRUE(checkpoints.amend({.step = 2, .best_step = 2}));
  const auto state = read_state(content_of(folder));
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(state->best_step, 2);
  EXPECT_FALSE(state->evaluation_due);
  for (const char* file : {"model.safetensors", "training.safetensors"})
    EXPECT_TRUE(fs::equivalent(folder / file, out / file)) << file;
  EXPECT_EQ(read_file(folder / "config.json").value(), "{}");
  EXPECT_TRUE(check_digests(folder));
  ASSERT_TRUE(write_file_atomically(folder / "model.safetensors", "other"));
  EXPECT_FALSE(check_digests(folder)) << "what was not written again is still held against what was";
}

TEST(CheckpointFolder, FilesOfTheUsersStayInAModelThatIsWrittenAgain) {
  const TempFolder out;
  const auto model = out / "model";
  const auto write = [&](const char* config, const char* other) {
    return write_network(model,
                         {.files = {{"config.json", config}, {other, "written"}}, .weights = {{"w", at::ones({3})}}});
  };
  ASSERT_TRUE(write("first", "vocab.json"));
  ASSERT_TRUE(write_file_atomically(model / "notes.txt", "mine"));
  ASSERT_TRUE(write_file_atomically(model / "ggml/model.bin", "mine"));
  fs::create_symlink("notes.txt", model / "link");
  ASSERT_TRUE(write("second", "merges.txt"));
  EXPECT_EQ(read_file(model / "config.json").value(), "second");
  EXPECT_FALSE(fs::exists(model / "vocab.json")) << "written before, and not any more";
  EXPECT_EQ(read_file(model / "notes.txt").value(), "mine");
  EXPECT_EQ(read_file(model / "ggml/model.bin").value(), "mine");
  EXPECT_TRUE(fs::is_symlink(model / "link"));
  EXPECT_TRUE(check_digests(model));
  EXPECT_FALSE(fs::exists(out / ".new-model"));
}

TEST(CheckpointFolder, OneThatHoldsFilesOfTheUsersIsNotPruned) {
  const TempFolder out;
  const CheckpointFolder checkpoints(out.path());
  const auto write = [&](std::int64_t step) {
    return checkpoints.write({.network = {.files = {{"config.json", "{}"}}, .weights = {{"w", at::ones({3})}}},
                              .training = {{"moment", at::zeros({3})}},
                              .state = {.step = step}});
  };
  for (const std::int64_t step : {1, 2, 3}) ASSERT_TRUE(write(step));
  ASSERT_TRUE(write_file_atomically(checkpoints.of_step(1) / "notes.txt", "mine"));
  checkpoints.prune(/*keep=*/1, /*best=*/0);
  EXPECT_EQ(read_file(checkpoints.of_step(1) / "notes.txt").value(), "mine");
  EXPECT_FALSE(fs::exists(checkpoints.of_step(2)));
  ASSERT_TRUE(write(1)) << "by a training that begins again";
  EXPECT_EQ(read_file(checkpoints.of_step(1) / "notes.txt").value(), "mine");
}

TEST(Digests, DetectChangedOrTruncatedFiles) {
  const TempFolder out;
  ASSERT_TRUE(write_file_atomically(out / "a", std::string(1000, 'a')));
  EXPECT_TRUE(check_digests(out.path())) << "an older version wrote none";
  ASSERT_TRUE(write_digests(out.path(), {"a"}));
  EXPECT_TRUE(check_digests(out.path()));
  std::string changed(1000, 'a');
  changed[500] = 'b';
  for (const auto& content : {changed, std::string(999, 'a'), std::string()}) {
    ASSERT_TRUE(write_file_atomically(out / "a", content));
    const auto found = check_digests(out.path());
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().what.find("damaged"), std::string::npos) << found.error().text();
  }
}

Result<void> full_disk() {
  return fail(Fault::exhausted, "the disk is full");
}

TEST(BackgroundWriter, FailedWriteIsLoggedAtOnceAndRepairedByTheNext) {
  LogCapture lines;
  BackgroundWriter writer;
  ASSERT_TRUE(writer.write("checkpoint", full_disk));
  lines.wait_for("the disk is full");
  bool written = false;
  EXPECT_TRUE(writer.write("checkpoint", [&]() -> Result<void> {
    written = true;
    return {};
  }));
  EXPECT_TRUE(writer.finish());
  EXPECT_TRUE(written);
}

TEST(BackgroundWriter, ExceptionOfAWriteIsReturnedAsItsError) {
  LogCapture log;
  BackgroundWriter writer;
  ASSERT_TRUE(writer.write("model", []() -> Result<void> { throw std::bad_alloc(); }));
  const auto end = writer.finish();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::exhausted);
  EXPECT_EQ(end.error().what, "the model could not be written, memory ran out: out of memory");
  ASSERT_TRUE(writer.write("model", []() -> Result<void> { throw std::runtime_error("a bug"); }));
  EXPECT_EQ(writer.finish().error().fault, Fault::internal);
}

TEST(BackgroundWriter, ContentIsHeldOnceAndReleasedAfterWriting) {
  const auto content = std::make_shared<int>(1);
  BackgroundWriter writer;
  long held = 0;
  ASSERT_TRUE(writer.write("model", [kept = content, &held]() -> Result<void> {
    held = kept.use_count();
    return {};
  }));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(held, 2) << "its own and ours";
  EXPECT_EQ(content.use_count(), 1);
}

TEST(BackgroundWriter, TwoOfAKindThatFailAreAnError) {
  const LogCapture lines;
  BackgroundWriter writer;
  ASSERT_TRUE(writer.write("checkpoint", full_disk));
  ASSERT_TRUE(writer.write("model", [] { return Result<void>(); }));
  ASSERT_TRUE(writer.write("checkpoint", full_disk));
  const auto third = writer.write("checkpoint", full_disk);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().fault, Fault::exhausted);
}

TEST(BackgroundWriter, AModelThatIsMissingInTheEndIsAnErrorWhateverElseWasWritten) {
  const LogCapture lines;
  BackgroundWriter writer;
  ASSERT_TRUE(writer.write("model", full_disk));
  ASSERT_TRUE(writer.write("checkpoint", [] { return Result<void>(); }));
  EXPECT_FALSE(writer.finish());
  EXPECT_TRUE(writer.finish("checkpoint")) << "which is there";
  EXPECT_FALSE(writer.finish("model"));
}

TEST(TrainingState, ReadsCheckpointsWithoutEvaluationFields) {
  const TrainingState now{.step = 9,
                          .numbers = {.is_scaled = true, .loss_scale = 1024, .scaled_steps = 3},
                          .best_score = 0.25,
                          .best_step = 6,
                          .evaluated_step = 9,
                          .evaluator = "a set",
                          .model_step = 6,
                          .positions = {"here"}};
  auto json = nlohmann::json::parse(show_state(now));
  for (const char* key : {"is_scaled", "evaluated_step", "judge", "model_step", "evaluation_due", "untended"})
    ASSERT_EQ(json.erase(key), 1U) << key;
  const auto before = read_state(json.dump());
  ASSERT_TRUE(before) << before.error().text();
  EXPECT_TRUE(before->numbers.is_scaled) << "by its scale";
  EXPECT_EQ(before->evaluated_step, 0) << "it is evaluated once more";
  EXPECT_EQ(before->evaluator, "") << "the current evaluator counts as the earlier one";
  EXPECT_EQ(before->model_step, 6) << "the best one was always written";
  EXPECT_EQ(before->positions, now.positions);
}

}  // namespace
}  // namespace tutti
