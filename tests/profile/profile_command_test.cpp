// `tutti profile` as people and programs call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

constexpr const char* kTutti = TUTTI_BINARY_DIR "/bin/tutti";

constexpr const char* kFeed = R"(
cores = 4
seconds = 1
[[stage]]
name = "read"
kind = "io"
threads = 2
mean_ms = 5
cv = 0.5
[[stage]]
name = "decode"
kind = "cpu"
threads = 1
mean_ms = 12
cv = 0.3
queue = 4
[[stage]]
name = "step"
kind = "device"
mean_ms = 5
)";

class ProfileTimed : public testing::Test {
 protected:
  std::string pipeline(const std::string& toml) {
    const auto file = (folder_ / "feed.toml").string();
    std::ofstream(file) << toml;
    return file;
  }
  static ProgramEnd profile(std::vector<std::string> words, const std::vector<std::string>& settings = {}) {
    words.insert(words.begin(), {kTutti, "profile"});
    return run_program(words, settings);
  }
  static Json json_of(const ProgramEnd& end) {
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return Json::parse(end.out);
  }
  const TempFolder folder_{};
};

constexpr const char* kTwoWaits = R"(
seconds = 0.2
[[stage]]
name = "read"
kind = "io"
threads = 2
mean_ms = 12
[[stage]]
name = "fetch"
kind = "io"
mean_ms = 4
)";

TEST_F(ProfileTimed, ExperimentMeasuresTheGainThatIsKnown) {
  const auto run = json_of(profile({"--pipeline", pipeline(kTwoWaits), "--experiment", "--json"}));
  EXPECT_NEAR(run["items_per_s"].get<double>(), 2 / 0.012, 3);
  ASSERT_EQ(run["experiments"].size(), 2U);
  const Json read = run["experiments"][0], fetch = run["experiments"][1];
  EXPECT_EQ(read["stage"], "read");
  EXPECT_NEAR(read["measured_gain"].get<double>(), 0.5, 0.04) << "then fetch limits, with 250 items a second";
  EXPECT_NEAR(read["predicted_gain"].get<double>(), 0.5, 0.02);
  EXPECT_NEAR(fetch["measured_gain"].get<double>(), 0, 0.03);
}

TEST_F(ProfileTimed, ExperimentOfAStageSlowedBehindItsDescriptionIsTheTruth) {
  const auto run =
      json_of(profile({"--pipeline", pipeline(kTwoWaits), "--experiment", "--json"}, {"TUTTI_PROFILE_SLOWED=fetch=3"}));
  EXPECT_FALSE(run["explained"].get<bool>());
  const Json fetch = run["experiments"][1];
  EXPECT_FALSE(fetch.contains("predicted_gain")) << "nothing is predicted";
  EXPECT_NEAR(fetch["measured_gain"].get<double>(), 1, 0.08) << "of 12 ms an item they are 6, as read's";
}

TEST_F(ProfileTimed, ExperimentIsRefusedWhereStagesCannotBeHeldBack) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--experiment", "--", "tutti", "transcribe", "x.wav"},
        {"--experiment", "--prove", "--", "tutti", "features", "x.wav"},
        {"--experiment", "--simulate", "--pipeline", pipeline(kTwoWaits)}}) {
    const auto end = profile(words);
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.err, HasSubstr("--experiment: "));
  }
}

TEST_F(ProfileTimed, PredictsWhatTheFixThenMeasures) {
  const auto file = pipeline(kFeed);
  const Json found = json_of(profile({"--pipeline", file, "--json"}));
  EXPECT_TRUE(found["explained"]);
  EXPECT_EQ(found["limit"]["stage"], "decode");
  EXPECT_EQ(found["limit"]["resource"], "cpu");
  EXPECT_NEAR(found["limit"]["share"], 0.5, 0.03);
  EXPECT_NEAR(found["items_per_s"], 1000 / 12.0, 4);
  EXPECT_EQ(found["stages"].size(), 3U);
  EXPECT_NEAR(found["stages"][1]["busy"], 1, 0.02);
  const Json& fix = found["fixes"][0];
  const Json applied = json_of(profile({"--pipeline", file, "--json", "--apply", fix["change"]}));
  EXPECT_NEAR(fix["predicted_items_per_s"].get<double>() / applied["items_per_s"].get<double>(), 1, 0.05);
}

TEST_F(ProfileTimed, StageSlowerThanDescribedPredictsNothing) {
  const Json found = json_of(profile({"--pipeline", pipeline(kFeed), "--json"}, {"TUTTI_PROFILE_SLOWED=decode=1.5"}));
  EXPECT_FALSE(found["explained"]);
  EXPECT_TRUE(found["limit"].is_null());
  EXPECT_TRUE(found["fixes"].empty());
  EXPECT_GT(found["model_error"], 0.05);
  EXPECT_NEAR(found["items_per_s"], 1000 / 18.0, 4);
  EXPECT_NEAR(found["stages"][1]["mean_ms"], 18, 0.8);
}

TEST_F(ProfileTimed, SimulationPredictsTheSameWithoutARun) {
  const Json found = json_of(profile(
      {"--pipeline", pipeline(kFeed), "--json", "--simulate", "--apply", "decode.threads=2", "--apply", "cores=1"}));
  EXPECT_NEAR(found["items_per_s"], 1000 / 12.0, 2);
  EXPECT_EQ(found["fixes"][0]["change"].get<std::string>().substr(0, 6), "cores=");
}

TEST_F(ProfileTimed, TuningStaysWithinItsBudgets) {
  const Json found = json_of(
      profile({"--pipeline", pipeline(kFeed), "--tune", "--threads-budget", "6", "--queue-budget", "9", "--json"}));
  int threads = 0, queue = 0;
  for (const std::string setting : found["settings"])
    (setting.find(".threads=") != std::string::npos ? threads : queue) +=
        std::stoi(setting.substr(setting.find('=') + 1));
  EXPECT_LE(threads, 6);
  EXPECT_LE(queue, 9);
  EXPECT_NEAR(found["items_per_s"], 200, 10);
}

TEST_F(ProfileTimed, TextNamesTheBottleneckAndFlagsToCopy) {
  const auto end = profile({"--pipeline", pipeline(kFeed), "--simulate"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("Bottleneck: decode (cpu)"));
  EXPECT_THAT(end.out, HasSubstr("--apply decode.threads="));
  EXPECT_THAT(end.err, IsEmpty());
}

TEST_F(ProfileTimed, SenselessRequestsAreUsageErrors) {
  const auto file = pipeline(kFeed);
  const std::vector<std::vector<std::string>> cases{{},
                                                    {"--pipeline", "/no/such/file.toml"},
                                                    {"--pipeline", file, "--apply", "decod.threads=2"},
                                                    {"--pipeline", file, "--apply", "decode.threads=0"},
                                                    {"--pipeline", file, "--threads-budget", "4"},
                                                    {"--pipeline", file, "--tune", "--threads-budget", "2"},
                                                    {"--pipeline", file, "--prove"},
                                                    {"--pipeline", file, "--steps", "5"},
                                                    {"--pipeline", file, "--", "tutti", "features", "a.wav"},
                                                    {"--simulate", "--", "tutti", "features", "a.wav"},
                                                    {"--steps", "5", "--", "tutti", "features", "a.wav"},
                                                    {"--compare", file},
                                                    {file},
                                                    {"--pipeline", file, "--html", file},
                                                    {"--", "tutti", "featurs", "a.wav"},
                                                    {"--", "tutti"},
                                                    {"--"},
                                                    {"--prove", "--", "ls"},
                                                    {"--tune", "--", "ls"},
                                                    {"--steps", "3", "--", "ls"},
                                                    {"--html", file + ".html", "--", "ls"}};
  for (const auto& words : cases) {
    const auto end = profile(words);
    EXPECT_EQ(end.exit_code, 2) << testing::PrintToString(words);
    EXPECT_THAT(end.out, IsEmpty());
  }
  EXPECT_EQ(profile({"--compare", "/no/such/a.json", "/no/such/b.json"}).exit_code, 4);
  EXPECT_THAT(profile(cases[2]).err, HasSubstr("Did you mean 'decode'?"));
  EXPECT_THAT(profile(cases[14]).err, HasSubstr("Did you mean 'features'?"));
}

class ProfileForms : public ProfileTimed {};

TEST_F(ProfileForms, FlagOfAnotherFormIsRefusedWithTheNamesOfBoth) {
  const auto file = pipeline(kFeed);
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--pipeline", file, "--prove"}, "--prove: is for a command of tutti, and this is a described pipeline"},
      {{"--pipeline", file, "--memory", "4GiB"}, "A pipeline has --queue-budget; see 'tutti profile --help'"},
      {{"--simulate", "--", "tutti", "features"}, "--simulate: is for a described pipeline, and this is a command of"},
      {{"--pipeline", file, "--", "ls"}, "--pipeline: is for a described pipeline, and this is another program"},
      {{"--prove", "--", "ls"}, "--prove: is for a command of tutti, and this is another program, 'ls'"},
      {{"--compare", "a", "b", "--tune"}, "--tune: is for a command of tutti or a described pipeline, and this is a"},
      {{"--compare", "a", "b", "--", "ls"}, "--compare: is for a comparison of two profiles, and this is another"},
      {{"--import", "trace.json", "--seconds", "3"}, "and this is an import of traces. Leave it out; see"}};
  for (const auto& [words, text] : cases) {
    const auto end = profile(words);
    EXPECT_EQ(end.exit_code, 2) << testing::PrintToString(words);
    EXPECT_THAT(end.err, HasSubstr(text));
  }
}

TEST_F(ProfileForms, FlagThatNeedsOrExcludesAnotherNamesIt) {
  const auto file = pipeline(kFeed);
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--pipeline", file, "--queue-budget", "4"}, "--queue-budget: has a meaning only with --tune"},
      {{"--pipeline", file, "--simulate", "--trace", "t"},
       "--trace: is for one run, without --tune, --simulate, --exp"},
      {{"--apply", "decode.threads=2", "--", "tutti", "features"}, "--apply: has a meaning only with --prove"},
      {{"--tune", "--prove", "--", "tutti", "features"}, "--tune: chooses its own changes to prove, without --prove"}};
  for (const auto& [words, text] : cases) {
    const auto end = profile(words);
    EXPECT_EQ(end.exit_code, 2) << testing::PrintToString(words);
    EXPECT_THAT(end.err, HasSubstr(text));
  }
}

TEST_F(ProfileForms, WithoutAFormAllOfThemAreNamed) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--prove"}, {"--simulate"}})
    EXPECT_THAT(profile(words).err, HasSubstr("expected --pipeline FILE.toml, or a command behind --"));
  EXPECT_THAT(profile({"--prove", "features"}).err, HasSubstr("'features': a command begins behind --"));
}

TEST_F(ProfileForms, VariablesOfOtherFormsCountForNothing) {
  const auto file = pipeline(kFeed);
  EXPECT_EQ(profile({"--pipeline", file, "--simulate"}, {"TUTTI_STEPS=5", "TUTTI_PROVE=True"}).exit_code, 0);
  EXPECT_EQ(profile({"--simulate"}, {"TUTTI_PIPELINE=" + file}).exit_code, 0) << "a variable names the pipeline";
}

TEST_F(ProfileTimed, CommandKeepsItsOutputAndGetsAProfile) {
  const std::string clip = TUTTI_SOURCE_DIR "/samples/jfk.flac";
  std::vector<std::string> words{"--", "tutti", "features", "--json"};
  for (int i = 0; i < 12; ++i) words.push_back(clip);
  const auto end = profile(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(std::ranges::count(end.out, '\n'), 12);
  EXPECT_THAT(end.err, HasSubstr("12 files in "));
  EXPECT_THAT(end.err, HasSubstr("decode"));
}

TEST_F(ProfileTimed, MoreThreadsForSlowFilesAreProven) {
  const auto clips = folder_ / "clips";
  std::filesystem::create_directory(clips);
  std::vector<std::string> words{"--prove",  "--apply", "features.decode.threads=2", "--", "tutti",
                                 "features", "--json"};
  for (int i = 0; i < 8; ++i) {
    words.push_back((clips / (std::to_string(i) + ".wav")).string());
    std::filesystem::copy_file(TUTTI_SOURCE_DIR "/samples/george.wav", words.back());
  }
  // Each file takes 300 ms to open: the run with two threads lasts 1.2 s, of which a pause of 50 ms on a busy machine
  // is less than the 5 % that a prediction may be off by.
  const auto end = profile(words, {"LD_PRELOAD=" TUTTI_BINARY_DIR "/slow_reads/libslow_reads.so",
                                   "TUTTI_SLOW_FOLDER=" + clips.string(), "TUTTI_SLOW_MS=300"});
  EXPECT_THAT(end.err, HasSubstr("decode (cpu) limits the run"));
  EXPECT_THAT(end.err, HasSubstr("With --decode-threads 2: predicted"));
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(std::ranges::count(end.out, '\n'), 8) << "the second run prints nothing there";
}

TEST_F(ProfileTimed, ExperimentOnACommandFindsTheStageThatWaitsForFiles) {
  const auto clips = folder_ / "clips";
  std::filesystem::create_directory(clips);
  std::vector<std::string> words{"--experiment", "--json", "--", "tutti", "features", "--json"};
  for (int i = 0; i < 6; ++i) {
    words.push_back((clips / (std::to_string(i) + ".wav")).string());
    std::filesystem::copy_file(TUTTI_SOURCE_DIR "/samples/george.wav", words.back());
  }
  const auto end = profile(words, {"LD_PRELOAD=" TUTTI_BINARY_DIR "/slow_reads/libslow_reads.so",
                                   "TUTTI_SLOW_FOLDER=" + clips.string(), "TUTTI_SLOW_MS=200"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const std::string second = end.err.substr(end.err.find('\n') + 1);  // behind the profile
  const Json stages = Json::parse(second)["experiments"];
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0]["stage"], "decode");
  EXPECT_NEAR(stages[0]["measured_gain"].get<double>(), 0.9, 0.25);
  EXPECT_NEAR(stages[1]["measured_gain"].get<double>(), 0, 0.15);
}

TEST_F(ProfileTimed, WhatTuningSetsChangesNoLine) {
  const auto lines_with = [](const char* threads) {
    std::vector<std::string> words{kTutti,  "features",           "--json", "--decode-threads",
                                   threads, "--features-threads", threads};
    for (const char* name : {"jfk.flac", "george.wav", "theo.mp3", "jackson.ogg", "mixed.m4a", "LJ003-0002.flac"})
      words.push_back(std::string(TUTTI_SOURCE_DIR "/samples/") + name);
    std::istringstream out(run_program(words).out);
    std::vector<Json> lines;
    for (std::string line; std::getline(out, line);) {
      lines.push_back(Json::parse(line));
      lines.back().erase("spent");
    }
    return lines;
  };
  const auto lines = lines_with("1");
  EXPECT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines_with("4"), lines);
}

TEST_F(ProfileTimed, StageThatIsNotThereIsNamedThoughNothingIsPredicted) {
  const std::string clip = TUTTI_SOURCE_DIR "/samples/george.wav";
  const auto end = profile({"--prove", "--apply", "decod.threads=2", "--", "tutti", "features", clip});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.err, HasSubstr("Did you mean 'decode'?"));
}

TEST_F(ProfileTimed, PageShowsThePipelineOfARun) {
  const auto page = (folder_ / "page.html").string();
  EXPECT_EQ(profile({"--pipeline", pipeline(kFeed), "--html", page}).exit_code, 0);
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(html, HasSubstr("decode (cpu) costs"));
  EXPECT_THAT(html, HasSubstr("Over time"));
  EXPECT_THAT(html, HasSubstr("--apply decode.threads="));
}

TEST_F(ProfileTimed, CommandThatFailsKeepsItsExitCode) {
  const auto end = profile({"--", "tutti", "features", "/no/such/file.wav"});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(end.err, HasSubstr("nothing was measured"));
}

TEST_F(ProfileTimed, AnyProgramIsSeenFromOutside) {
  const auto slept = profile({"--", "sh", "-c", "echo out; sleep 1; exit 7"});
  EXPECT_EQ(slept.exit_code, 7);
  EXPECT_EQ(slept.out, "out\n");
  EXPECT_THAT(slept.err, HasSubstr("Waiting limits the program"));
  const auto stopped = profile({"--json", "--seconds", "0.6", "--", "sleep", "60"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  const auto seen = Json::parse(stopped.err);
  EXPECT_EQ(seen.at("limit").at("name"), "waiting");
  EXPECT_GT(seen.at("threads").at(0).at("blocked"), 0.9);
  EXPECT_EQ(profile({"--", "/no/such/program"}).exit_code, 4);
  EXPECT_EQ(profile({"--", "true"}).exit_code, 4) << "it ended before it was seen";
}

/// The profile of a program from outside, without what the program itself wrote before it.
Json seen(const ProgramEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return Json::parse(end.err.substr(end.err.rfind("{\"elapsed\"")));
}

constexpr const char* kShortChild = "bash -c 'for ((j = 0; j < 9000; ++j)); do :; done'";

TEST_F(ProfileTimed, ShortChildrenOneAfterTheOtherCompute) {
  const std::string loop = std::string("for i in {1..60}; do ") + kShortChild + "; done";
  for (const std::string& program : {loop, "bash -c \"" + loop + "\"; true"}) {
    const Json run = seen(profile({"--json", "--", "bash", "-c", program}));
    const Json busiest = run.at("busiest");
    EXPECT_GT(busiest.at("running").get<double>() + busiest.at("core_wait").get<double>(), 0.7) << run;
    EXPECT_THAT(run.at("limit").at("name"), testing::AnyOf("one process at a time", "other processes"));
    EXPECT_GT(run.at("unseen_s"), 0);
  }
}

TEST_F(ProfileTimed, ChildrenThatLoseTheirParentAreSeen) {
  const std::string program = std::string("for i in {1..20}; do (") + kShortChild + " &); sleep 0.05; done";
  const Json run = seen(profile({"--json", "--", "bash", "-c", program}));
  const Json alone = seen(profile({"--json", "--", "bash", "-c", "for i in {1..20}; do sleep 0.05; done"}));
  const auto used = [](const Json& it) { return it.at("cores_used").get<double>() * it.at("elapsed").get<double>(); };
  EXPECT_GT(used(run), 2 * used(alone));
}

TEST_F(ProfileTimed, ChildThatOutlivesTheProgramIsNamed) {
  const auto end = profile({"--", "sh", "-c", "sleep 4 > /dev/null 2>&1 & sleep 0.4"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.err, HasSubstr("Processes that it has started and that still run: 1"));
}

TEST_F(ProfileTimed, ProgramThatIgnoresSignalsIsKilledAfterAGrace) {
  const auto end =
      profile({"--seconds", "0.5", "--", "bash", "-c", "trap '' INT TERM; for i in {1..60}; do sleep 1; done"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("bash: still runs 5 s after SIGTERM: SIGKILL"));
  EXPECT_THAT(end.err, HasSubstr("Waiting limits the program"));
}

TEST_F(ProfileTimed, ProgramThatStoppedItselfEndsWhenItsTimeIsOver) {
  for (const char* program : {"kill -STOP $$; sleep 60", "sleep 60; true"}) {
    const auto end = profile({"--seconds", "0.5", "--", "bash", "-c", program});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    EXPECT_THAT(end.err, testing::Not(HasSubstr("still runs")));
  }
}

TEST_F(ProfileTimed, InterruptedProgramIsWaitedForAndReported) {
  RunningProgram program({kTutti, "profile", "--", "bash", "-c",
                          "trap 'sleep 1; echo saved; exit 0' INT; echo begun; for i in {1..600}; do sleep 0.1; done"});
  ASSERT_TRUE(program.saw("begun"));
  ::usleep(500'000);
  ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  const auto end = program.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_THAT(end.out, HasSubstr("saved"));
  EXPECT_THAT(end.err, HasSubstr("Waiting limits the program"));
}

TEST_F(ProfileTimed, SecondInterruptEndsAProgramThatIgnoresThem) {
  RunningProgram program(
      {kTutti, "profile", "--", "bash", "-c", "trap '' INT TERM; echo begun; for i in {1..600}; do sleep 0.1; done"});
  ASSERT_TRUE(program.saw("begun"));
  for (int i = 0; i < 2; ++i) {
    ::usleep(1'300'000);
    ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  }
  const auto end = program.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_THAT(end.err, HasSubstr("cores used"));
}

}  // namespace
}  // namespace tutti
