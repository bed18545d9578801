// Training on LJSpeech's layout as people have it.

#include <gtest/gtest.h>

#include <cstdio>

#include "system/lj003.h"
#include "system/training_runs.h"

using namespace tutti;

namespace {

/// The clips LJ003-* in LJSpeech's layout: every fifth is in the split "validation", the others are in "train".
void put_lj003(const std::filesystem::path& folder) {
  const auto clips = lj003_clips();
  std::filesystem::create_directory(folder);
  std::filesystem::create_directory_symlink(clips.at(0).audio.parent_path(), folder / "wavs");
  for (const bool is_training : {false, true}) {
    std::string lines;
    for (const SpokenClip& clip : every_fifth(clips, is_training))
      lines += clip.id + "|" + clip.text + "|" + clip.text + "\n";
    ASSERT_TRUE(write_file_atomically(folder / (is_training ? "metadata_train.csv" : "metadata_eval.csv"), lines));
  }
}

/// In percent, on the clips that were held out.
double held_out_word_errors(const std::filesystem::path& model, const std::filesystem::path& set) {
  const auto end = run_program({tutti_program(), "evaluate", "--model", model.string(), "--data", set.string(),
                                "--split", "validation", "--normaliser", "english", "--json"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto found = nlohmann::json::parse(end.out);
  EXPECT_EQ(found["samples"], 15);
  return 100 * found["wer"].get<double>();
}

}  // namespace

TEST(FineTuning, LjSpeechFolderWithFlacTrainsAsItIs) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  const TempFolder out;
  const auto end =
      run_program(training(out.path(), {"--data", (test_data() / "speech/lj").string(), "--max-steps", "2"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto order = lines_of(out / "order.jsonl");
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0]["ids"].size(), 2U);
  EXPECT_EQ(read_file(out / "bad_samples.jsonl").value_or(""), "");
}

// The first example of docs/training.md.
TEST(FineTuningLong, SixMinutesOfOneVoiceLowerItsWordErrors) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const TempFolder work;
  const auto set = work / "lj003", out = work / "tuned";
  put_lj003(set);
  const double before = held_out_word_errors(real_model(), set);
  const auto end = run_program({tutti_program(), "train", "whisper", "--model", real_model().string(), "--data",
                                set.string(), "--out", out.string(), "--batch-size", "8", "--learning-rate", "1e-5",
                                "--max-steps", "24", "--warmup-steps", "4"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const double after = held_out_word_errors(out / "model", set);
  std::printf("%.2f %% word errors before, %.2f %% after\n", before, after);
  EXPECT_NEAR(before, 11, 1.5);
  EXPECT_LE(after, 8.5);
}
