// `tutti profile` of trainings whose limiting stage was planted, on sets with and without a validation part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

/// 48 clips to train with, in epochs of twelve steps, and a few to evaluate with.
class ProfiledTrainingTimed : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(set_ / "audio");
    std::filesystem::create_directories(set_ / "splits");
    write_split("train", 48);
  }
  void write_split(const std::string& split, int clips) const {
    std::ofstream table(set_ / "splits" / (split + ".csv"));
    table << "audio,text\n";
    for (int i = 0; i < clips; ++i) {
      const std::string name = split + std::to_string(i) + ".wav";
      std::filesystem::copy_file(std::string(TUTTI_SOURCE_DIR) + "/samples/george.wav", set_ / "audio" / name);
      table << name << ",seven\n";
    }
  }
  void add_validation() const { write_split("validation", 8); }

  /// The training's words behind `tutti`.
  std::vector<std::string> training(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"train", "whisper"};
    for (const std::string& word : settings(more)) words.push_back(word);
    words.insert(words.end(), {"--out", (folder_ / "out").string(), "--epochs", "0", "--max-steps", "50"});
    return words;
  }
  std::vector<std::string> settings(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"--data", set_.string(), "--batch-size", "4"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// 60 ms a file are 240 a batch: they limit the run where a slow machine takes 100 for a step, too.
  std::vector<std::string> slow_files(int milliseconds) const {
    return {"LD_PRELOAD=" TUTTI_BINARY_DIR "/slow_reads/libslow_reads.so", "TUTTI_SLOW_FOLDER=" + set_.string(),
            "TUTTI_SLOW_MS=" + std::to_string(milliseconds)};
  }
  static std::vector<std::string> small() {
    return {"--config", std::string(TUTTI_SOURCE_DIR) + "/recipes/smoke.toml", "--save-steps", "0"};
  }
  Json profiled(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> words{tutti_program(), "profile", "--json", "--", "tutti"};
    words.insert(words.end(), command.begin(), command.end());
    return report_of(words, environment);
  }
  /// A run beside much other work is repeated: its first cause is that work, not the planted one.
  Json report_of(const std::vector<std::string>& words, const std::vector<std::string>& environment) const {
    Json found;
    for (int run = 0; run < 3; ++run) {
      std::filesystem::remove_all(folder_ / "out");
      found = json_in(run_program(words, environment));
      if (found.value("cause", Json()) != "other processes") break;
    }
    return found;
  }
  static Json json_in(const ProgramEnd& end) {
    EXPECT_EQ(end.exit_code, 0) << end.err;
    const auto begin = end.err.rfind("{\"command\"");
    return begin == std::string::npos ? Json() : Json::parse(end.err.substr(begin, end.err.find('\n', begin) - begin));
  }

  const TempFolder folder_{};
  const std::filesystem::path set_ = folder_ / "set";
};

void expect_slow_reader(const Json& found) {
  ASSERT_TRUE(found.is_object()) << found;
  EXPECT_TRUE(found["explained"]) << found["model_error"];
  EXPECT_EQ(found["limit"]["stage"], "read");
  EXPECT_EQ(found["cause"], "source or disk");
  ASSERT_TRUE(found.contains("advice") && found["advice"].is_object()) << found;
  ASSERT_EQ(found["advice"]["stage"], "read") << found;
  EXPECT_EQ(found["advice"]["flags"][0], "--read-threads");
}

TEST_F(ProfiledTrainingTimed, SlowReaderIsNamedWithAndWithoutEvaluations) {
  auto more = small();
  more.insert(more.end(), {"--read-threads", "1"});
  expect_slow_reader(profiled(training(more), slow_files(60)));
  add_validation();
  expect_slow_reader(profiled(training(more), slow_files(60)));
}

TEST_F(ProfiledTrainingTimed, SlowReaderIsNamedBetweenEvaluationsWithinEpochs) {
  add_validation();
  auto more = small();
  more.insert(more.end(), {"--read-threads", "1", "--eval-steps", "10"});
  expect_slow_reader(profiled(training(more), slow_files(60)));
}

TEST_F(ProfiledTrainingTimed, ProfileTrainNamesASlowReaderOfASetWithAValidationPart) {
  add_validation();
  const auto recipe = folder_ / "recipe.toml";
  std::filesystem::copy_file(std::string(TUTTI_SOURCE_DIR) + "/recipes/smoke.toml", recipe);
  std::ofstream(recipe, std::ios::app) << "read-threads = 1\n";
  std::vector<std::string> words{tutti_program(), "profile", "train", "--config", recipe.string(), "--num-steps", "60"};
  for (const std::string& word : settings({})) words.push_back(word);
  const auto end = run_program(words, slow_files(45));
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("\nCause: source or disk\nAdvice: read: --read-threads "));
  EXPECT_THAT(end.err, HasSubstr("DATA_LOADING: "));
  EXPECT_THAT(end.err, Not(HasSubstr("a deeper ring")));
  EXPECT_THAT(end.err, Not(HasSubstr("a larger batch")));
  words.emplace_back("--json");
  expect_slow_reader(report_of(words, slow_files(45)));
}

TEST_F(ProfiledTrainingTimed, StepsThatLimitAreNamedThoughTheNetworkIsEvaluated) {
  add_validation();
  auto more = small();
  more.insert(more.end(), {"--width", "128", "--encoder-layers", "4", "--threads", "1"});
  const auto found = profiled(training(more));
  EXPECT_TRUE(found["explained"]) << found["model_error"];
  EXPECT_EQ(found["limit"]["stage"], "step");
  EXPECT_EQ(found["cause"], "device compute");
}

}  // namespace
}  // namespace tutti
