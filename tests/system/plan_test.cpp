// `tutti plan` as people call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"

using namespace tutti;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

namespace {

class PlanTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return folder_ / name;
  }
  ProgramEnd plan(std::vector<std::string> more) const {
    std::vector<std::string> words{tutti_program(), "plan", "--state", folder_ / "state"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {"XDG_CONFIG_HOME=" + folder_.path().string()});
  }
  json planned(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const auto end = plan(std::move(more));
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return json::parse(end.out);
  }

  TempFolder folder_;
};

}  // namespace

TEST_F(PlanTest, DevicesAndFiguresMayBeGivenAgain) {
  const auto work = file("work.json", "[3600, 1800]");
  EXPECT_EQ(planned({"--durations", work, "--devices", "emulated:30x:12GB", "--devices", "emulated:12x:8GB"})["devices"]
                .size(),
            2U);
  const json reported = planned({"--durations", work, "--gpus", "12GB:30x", "--gpus", "8GB:12x"});
  EXPECT_EQ(reported["devices"].size(), 2U);
  EXPECT_NEAR(reported["time"]["lower_bound_s"].get<double>(), 5400 / 42.0, 1e-6);
}

TEST_F(PlanTest, ReadsBatchInputsAndCountsUnknownLengths) {
  std::filesystem::create_directories(folder_ / "talks");
  write_tone(folder_ / "talks/tone.wav", 3, 440);
  const auto list = file("list.csv", "path,duration\na.mp3,60\nnowhere.mp3,\n");
  const auto end = plan({folder_ / "talks", "--durations", list, "--gpus", "12GB:30x", "--json"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("1 of 3 recordings is left out"));
  const json reported = json::parse(end.out);
  EXPECT_NEAR(reported["time"]["audio_s"].get<double>(), 63, 0.01);
  EXPECT_EQ(reported["recordings_of_unknown_length"], 1);
}

TEST_F(PlanTest, ReportsBatchCostForTheAutoType) {
  const auto work = file("work.json", "[3600]");
  const auto end =
      plan({"--durations", work, "--gpus", "12GB:30x,8GB:30x", "--compute-type", "auto", "--price", "0.5"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("Expected cost: 0.017, at 0.50 per device hour"));
  EXPECT_THAT(end.out, HasSubstr("--compute-type auto"));
  EXPECT_EQ(plan({"--gpus", "12GB:30x", "--price", "-1"}).exit_code, 2);
}

TEST_F(PlanTest, PlainLengthsAreComputedWholeHoweverMuchSilenceRecordingsHad) {
  std::filesystem::create_directories(folder_ / "talks");
  write_tone(folder_ / "talks/tone.wav", 30, 440);
  const std::string model = TUTTI_SOURCE_DIR "/models/nano", card = "emulated:30x:12GB";
  const auto done = run_program({tutti_program(), "batch", folder_ / "talks", "-o", folder_ / "out", "--state",
                                 folder_ / "state", "--model", model, "--devices", card});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_LT(planned({folder_ / "talks", "--model", model, "--devices", card})["time"]["speech_share"], 1);
  const json reported =
      planned({"--durations", file("work.json", "[3600]"), "--simulate", "--model", model, "--devices", card});
  EXPECT_FALSE(reported.contains("speech_share"));
  EXPECT_NEAR(reported["lower_bound_s"].get<double>(), 120, 1e-6);
}

TEST_F(PlanTest, SimulatesTheFailuresOfADevicesFile) {
  const auto work = file("work.json", "[3600, 3600]");
  const std::string card = "[[device]]\nuse = \"emulated:30x:12GB\"\n";
  const auto well = file("well.toml", card);
  const auto ill = file("ill.toml", card + "failures = [\"lost@60+120\", \"exhaust@10\"]\n");
  const auto first = [](const json& reported) { return reported["policies"][0]["makespan_s"].get<double>(); };
  EXPECT_GT(first(planned({"--simulate", "--durations", work, "--devices", ill})),
            first(planned({"--simulate", "--durations", work, "--devices", well})) + 100);
  EXPECT_THAT(plan({"--simulate", "--durations", work, "--devices", ill}).err, HasSubstr("'exhaust' is left out"));
  EXPECT_THAT(plan({"--durations", work, "--devices", ill}).err, HasSubstr("--simulate has them"));
  EXPECT_THAT(plan({"--durations", work, "--devices", well}).err, Not(HasSubstr("failures")));
}

TEST_F(PlanTest, FiguresAndNamedDevicesAreBothPlannedFor) {
  const auto work = file("work.json", "[3600]");
  const auto ids = [](const json& reported) {
    std::vector<std::string> all;
    for (const auto& device : reported["devices"]) all.push_back(device["id"]);
    return all;
  };
  EXPECT_EQ(ids(planned({"--durations", work, "--gpus", "12GB:30x", "--devices", "cpu"})),
            (std::vector<std::string>{"cuda:0", "cpu"}));
  EXPECT_EQ(ids(planned({"--durations", work, "--gpus", "12GB:30x"})), (std::vector<std::string>{"cuda:0"}));
  const auto with_variable = run_program({tutti_program(), "plan", "--durations", work, "--gpus", "12GB:30x", "--json"},
                                         {"XDG_CONFIG_HOME=" + folder_.path().string(), "TUTTI_DEVICES=cpu"});
  EXPECT_EQ(ids(json::parse(with_variable.out)), (std::vector<std::string>{"cuda:0"})) << "a flag wins";
}

TEST_F(PlanTest, TheRecommendedCommandRunsOnWhatWasPlanned) {
  std::filesystem::create_directories(folder_ / "my talks");
  write_tone(folder_ / "my talks/tone.wav", 3, 440);
  const auto reported =
      planned({folder_ / "my talks", "--devices", "emulated:30x:12GB", "--model", TUTTI_SOURCE_DIR "/models/nano"});
  const std::string command = reported["recommended"];
  EXPECT_THAT(command, HasSubstr("tutti batch '" + (folder_ / "my talks").string() + "' "));
  EXPECT_THAT(command, HasSubstr(" --max-per-gpu "));
  EXPECT_THAT(command, HasSubstr(" -t "));
  const auto done =
      run_program({"/bin/sh", "-c",
                   std::filesystem::path(tutti_program()).parent_path().string() + "/" + command + " -y -o '" +
                       (folder_ / "out").string() + "' --state '" + (folder_ / "state").string() + "'"},
                  {"XDG_CONFIG_HOME=" + folder_.path().string()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}
