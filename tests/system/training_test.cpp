// Training as people run it: from a folder of recordings to a model that transcribes.

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// Eight clips in epochs of four steps.
std::vector<std::string> training(const fs::path& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{tutti_program(),
                                 "train",
                                 "whisper",
                                 "--config",
                                 std::string(TUTTI_SOURCE_DIR) + "/recipes/smoke.toml",
                                 "--data",
                                 (test_data() / "speech/ljspeech").string(),
                                 "--out",
                                 out.string(),
                                 "--batch-size",
                                 "2",
                                 "--epochs",
                                 "3",
                                 "--max-steps",
                                 "12",
                                 "--save-steps",
                                 "2",
                                 "--compute-threads",
                                 "1",
                                 "--log-order"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<nlohmann::json> lines_of(const fs::path& path) {
  std::istringstream text(read_file(path).value());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

void expect_same(const TempFolder& found, const TempFolder& wanted) {
  for (const char* file : {"model/model.safetensors", "order.jsonl", "checkpoints/step-00000012/training.safetensors"})
    EXPECT_TRUE(read_file(found / file).value() == read_file(wanted / file).value()) << file;
}

}  // namespace

TEST(Training, TheSmokeRecipeMakesAModelThatTranscribesAndIsJudged) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(out.path()));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto order = lines_of(out / "order.jsonl");
  ASSERT_EQ(order.size(), 12);
  EXPECT_EQ(order[0]["ids"].size(), 2);
  const auto metrics = lines_of(out / "metrics.jsonl");
  EXPECT_LT(metrics.back()["loss"].get<double>(), metrics.front()["loss"].get<double>());
  EXPECT_TRUE(fs::exists(out / "loss.svg"));
  EXPECT_NE(read_file(out / "config.toml").value().find("batch-size = 2"), std::string::npos);

  const auto model = (out / "model").string(), data = (test_data() / "speech/ljspeech").string();
  const auto heard = run_program({tutti_program(), "transcribe", "--model", model, "-f", "txt", "-o",
                                  out.path().string(), "--temperature", "0", data + "/wavs/LJ001-0002.wav"});
  EXPECT_EQ(heard.exit_code, 0) << heard.err;
  const auto judged = run_program({tutti_program(), "evaluate", "--model", model, "--data", data, "--json", "--samples",
                                   "2", "--report", (out / "report.html").string()});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const auto verdict = nlohmann::json::parse(judged.out);
  EXPECT_EQ(verdict["samples"], 2);
  for (const char* key : {"wer", "cer", "noise_accuracy"}) EXPECT_TRUE(verdict[key].is_number()) << key;
  EXPECT_TRUE(verdict["per_condition"].is_object());
  EXPECT_TRUE(fs::exists(out / "report.html"));
}

TEST(Training, KilledInMidEpochAndResumedItEndsInTheSameBits) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole, parts;
  ASSERT_EQ(run_program(training(whole.path())).exit_code, 0);
  {
    RunningProgram program(training(parts.path()));
    ASSERT_TRUE(program.saw("step 7/"));
    ASSERT_EQ(::kill(program.pid(), SIGKILL), 0);
    EXPECT_EQ(program.wait().exit_code, 128 + SIGKILL);
  }
  const auto again = run_program(training(parts.path(), {"--resume", "--threads", "5"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("step 1/"), std::string::npos) << "it went on, and did not begin anew";
  expect_same(parts, whole);
}

TEST(Training, ASignalStopsItBehindACheckpointAndItGoesOnFromThere) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole, parts;
  ASSERT_EQ(run_program(training(whole.path())).exit_code, 0);
  {
    RunningProgram program(training(parts.path(), {"--save-steps", "0"}));
    ASSERT_TRUE(program.saw("step 2/"));
    ASSERT_EQ(::kill(program.pid(), SIGTERM), 0);
    const auto end = program.wait();
    EXPECT_EQ(end.exit_code, 130) << end.err;
    EXPECT_NE(end.err.find("--resume"), std::string::npos) << end.err;
  }
  EXPECT_FALSE(fs::is_empty(parts / "checkpoints"));
  ASSERT_EQ(run_program(training(parts.path(), {"--resume"})).exit_code, 0);
  expect_same(parts, whole);
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

TEST(Training, FlagsWinOverTheRecipeAndVariablesOfTranscribingAreNotAsked) {
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
