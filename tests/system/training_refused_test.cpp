// Refused trainings, and settings that differ from what the user intended.

#include <gtest/gtest.h>

#include <csignal>
#include <regex>

#include "base/files.h"
#include "base/json.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "system/training_runs.h"

using namespace tutti;

namespace fs = std::filesystem;

TEST(Training, ADeviceThatIsNotThereIsNamed) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto network = run_program(training(out / "network", {"--model-gpu", "31"}));
  EXPECT_EQ(network.exit_code, 4);
  EXPECT_NE(network.err.find("device 31"), std::string::npos) << network.err;
  const auto data = run_program(training(out / "data", {"--data-gpu", "cuda:31"}));
  EXPECT_EQ(data.exit_code, 4);
  EXPECT_NE(data.err.find("data-gpu"), std::string::npos) << data.err;
  const auto both = run_program(training(out / "both", {"--data-gpu", "cpu", "--cache", (out / "cache").string()}));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("data-gpu, cache"), std::string::npos) << both.err;
}

TEST(Training, SetWithoutAudioFailsTrainingAndEvaluation) {
  const TempFolder out;
  ASSERT_TRUE(write_file_atomically(out / "set.jsonl", "{\"audio\":\"nowhere.wav\",\"text\":\"one\"}\n"));
  const auto set = (out / "set.jsonl").string();
  const auto trained = run_program(training(out / "train", {"--data", set}));
  EXPECT_EQ(trained.exit_code, 4) << trained.err;
  EXPECT_NE(trained.err.find("bad_samples.jsonl"), std::string::npos) << trained.err;
  const auto checked = run_program(
      {tutti_program(), "evaluate", "--model", std::string(TUTTI_SOURCE_DIR) + "/models/nano", "--data", set});
  EXPECT_EQ(checked.exit_code, 4) << checked.out;
  EXPECT_NE(checked.err.find("not one of its samples can be used"), std::string::npos) << checked.err;
  EXPECT_NE(checked.err.find("No such file"), std::string::npos) << "the reason, which no file holds: " << checked.err;
}

TEST(Training, PatienceWithoutEvalDataIsRefused) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(out / "train", {"--patience", "2"}));
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_NE(end.err.find("--eval-data"), std::string::npos) << end.err;
}

TEST(Training, MissingEvalDataIsRefusedBeforeTheFirstStep) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(out / "train", {"--eval-data", out / "nowhere"}));
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_NE(end.err.find("eval-data: " + (out / "nowhere").string()), std::string::npos) << end.err;
  EXPECT_FALSE(std::filesystem::exists(out / "train/config.toml"));
}

TEST(Training, AFolderThatHoldsATrainingIsNotTrainedOverUnasked) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  ASSERT_EQ(run_program(training(out.path())).exit_code, 0);
  const auto before = read_file(out / "config.toml").value();
  const auto again = run_program(training(out.path(), {"--seed", "9"}));
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("--resume"), std::string::npos) << again.err;
  EXPECT_EQ(read_file(out / "config.toml").value(), before);
}

TEST(Training, SecondTrainingInTheSameFolderIsRefused) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  RunningProgram first(training(out.path(), {"--max-steps", "100000", "--epochs", "100000"}));
  ASSERT_TRUE(first.saw("step 3/"));
  const auto before = read_file(out / "config.toml").value();
  const auto second = run_program(training(out.path(), {"--resume", "--seed", "9"}));
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_NE(second.err.find("another process is training into this folder"), std::string::npos) << second.err;
  EXPECT_EQ(read_file(out / "config.toml").value(), before);
  ASSERT_EQ(::kill(first.pid(), SIGTERM), 0);
  const auto end = first.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_FALSE(fs::is_empty(out / "checkpoints"));
}

TEST(Training, RefusedSettingsDoNotReplaceTheStoredOnes) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  ASSERT_EQ(run_program(training(out.path(), {"--max-steps", "2"})).exit_code, 0);
  const auto before = read_file(out / "config.toml").value();
  const auto wider = run_program(training(out.path(), {"--resume", "--width", "128"}));
  EXPECT_NE(wider.exit_code, 0);
  EXPECT_NE(wider.err.find("another recipe"), std::string::npos) << wider.err;
  EXPECT_NE(wider.err.find("Requested now: width 128 (it was 64)"), std::string::npos) << wider.err;
  const auto bigger = run_program(training(out.path(), {"--resume", "--batch-size", "7"}));
  EXPECT_EQ(bigger.exit_code, 2);
  EXPECT_NE(bigger.err.find("Requested now: batch-size 7 (it was 2)"), std::string::npos) << bigger.err;
  EXPECT_EQ(read_file(out / "config.toml").value(), before);
  const auto named = [&](const std::string& step) {
    return run_program({tutti_program(), "train", "whisper", "--output_dir", out.path().string(),
                        "--resume_from_checkpoint", (out / "checkpoints" / step).string() + "/", "--max_steps", "4"});
  };
  fs::create_directories(out / "checkpoints/step-00000001");
  ASSERT_TRUE(write_file_atomically(out / "checkpoints/step-00000001/training.json", "{}"));
  const auto older = named("step-00000001");
  EXPECT_EQ(older.exit_code, 2);
  EXPECT_NE(older.err.find("holds a newer one, step-00000002"), std::string::npos) << older.err;
  fs::create_directories(out / "checkpoints/damaged-step-00000003");
  ASSERT_TRUE(write_file_atomically(out / "checkpoints/damaged-step-00000003/training.json", "{}"));
  for (const char* none : {"step-00000009", "damaged-step-00000003"})
    EXPECT_NE(named(none).err.find("no checkpoint of a training is there"), std::string::npos) << none;
  EXPECT_NE(named("stopped-step-00000003").err.find("call it step-00000003 first"), std::string::npos);
  EXPECT_EQ(named("step-00000002").exit_code, 0);
  EXPECT_TRUE(fs::exists(out / "checkpoints/step-00000004"));
  // As some write it; data and all else come from the settings that were kept.
  const auto again = run_program(
      {tutti_program(), "train", "whisper", "--out", out.path().string(), "--resume=True", "--max-steps", "6"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(fs::exists(out / "checkpoints/step-00000006"));
}

TEST(Training, SettingsOfRunKilledInFirstCheckpointAreReplaced) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  fs::create_directories(out / "checkpoints/.new-step-00000001");
  ASSERT_TRUE(write_file_atomically(out / "training.lock", ""));
  ASSERT_TRUE(write_file_atomically(out / "config.toml", "data = 'nowhere'\n"));
  const auto end = run_program(training(out.path(), {"--max-steps", "2"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(read_file(out / "config.toml").value().find("max-steps = 2\n"), std::string::npos);
  EXPECT_NE(end.out.find("max-steps = 2\n"), std::string::npos) << "what was used is printed";
  EXPECT_FALSE(fs::exists(out / "checkpoints/.new-step-00000001"));
}

TEST(Training, FlagsOverrideRecipeAndTranscribeVariablesAreIgnored) {
  const TempFolder out;
  ASSERT_TRUE(write_file_atomically(out / "r.toml", "batch-size = 3\nlearning-rate = 0.25\n"));
  const auto end = run_program({tutti_program(), "train", "whisper", "--config", (out / "r.toml").string(),
                                "--batch-size", "7", "--show-config"},
                               {"TUTTI_MODEL=elsewhere", "TUTTI_EPOCHS=99"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  // Setting, value, where it came from; padded to columns.
  const auto shown = [&](const char* line) { return std::regex_search(end.out, std::regex(line)); };
  EXPECT_TRUE(shown("batch-size += 7 +# --batch-size")) << end.out;
  EXPECT_TRUE(shown("learning-rate += 0.25 +# .*/r.toml")) << end.out;
  EXPECT_TRUE(shown("epochs += [0-9]+ +# default")) << end.out;
  EXPECT_FALSE(shown("elsewhere")) << end.out;
}

TEST(Training, AWrongKeyOfARecipeIsNamedWithTheRightOne) {
  const TempFolder out;
  ASSERT_TRUE(write_file_atomically(out / "r.toml", "leaning-rate = 1e-4\n"));
  const auto end = run_program({tutti_program(), "train", "whisper", "--data", "x", "--out", (out / "o").string(),
                                "--config", (out / "r.toml").string()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_NE(end.err.find("'learning-rate'"), std::string::npos) << end.err;
}
