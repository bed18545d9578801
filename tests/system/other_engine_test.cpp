// Engines of others under `tutti batch --engine`: one without a model that shows what it was sent, and misbehaves.

#include <gtest/gtest.h>
#include <sched.h>

#include <csignal>
#include <regex>
#include <set>

#include "support/eventually.h"
#include "support/process_tree.h"
#include "system/batch_runs.h"

using namespace tutti;

namespace {

class OtherEngine : public BatchTest {
 protected:
  static std::string engine(const std::string& script = {}) {
    return "python3 " TUTTI_SOURCE_DIR "/tests/system/engines/fake_engine.py " + script;
  }

  ProgramEnd run(const std::string& script, const std::string& devices, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--engine", engine(script)});
    return batch(devices, std::move(more));
  }

  /// Two processes, on the first and the last core that this one has.
  static std::string two_cores() {
    cpu_set_t set;
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    int first = -1, last = -1;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &set)) continue;
      if (first < 0) first = core;
      last = core;
    }
    return "cpu:" + std::to_string(first) + (first == last ? "" : ",cpu:" + std::to_string(last));
  }

  void clear() const {
    fs::remove_all(folder_ / "out");
    fs::remove_all(folder_ / "state");
  }

  /// Those that have been published, by recording.
  std::map<std::string, json> transcripts() const {
    std::map<std::string, json> all;
    for (int number = 0; number < kRecordings; ++number) {
      const fs::path name = recording(number).lexically_relative(in_).string() + ".json";
      if (const auto content = read_file(folder_ / "out" / name)) all[name] = json::parse(*content);
    }
    return all;
  }

  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> all;
    for (const auto& [name, transcript] : transcripts()) all[name] = transcript["text"];
    return all;
  }

  int restarts() const {
    int all = 0;
    const json reported = report();
    for (const auto& device : reported["devices"]) all += device["restarts"].get<int>();
    return all;
  }
};

}  // namespace

TEST_F(OtherEngine, FaultyOnesGiveTheTextsOfAGoodOne) {
  const auto good = run("", "cpu");
  ASSERT_EQ(good.exit_code, 0) << good.err;
  const auto expected = texts();
  ASSERT_EQ(expected.size(), kRecordings);
  std::set<std::string> sums;
  for (const auto& [name, text] : expected) {
    EXPECT_TRUE(std::regex_match(text, std::regex("( [0-9]+ [0-9a-f]{8})+"))) << name << ": " << text;
    sums.insert(text);
  }
  EXPECT_EQ(sums.size(), kRecordings);
  EXPECT_EQ(report()["engine"], "fake 1.0");
  EXPECT_NE(good.err.find("Engine: fake 1.0."), std::string::npos) << good.err;
  clear();
  // Of recordings that are in work alone: what is lost beside another could be taken for the cause of the next loss.
  const auto faulty = run("faults=die@3,hang@7,garble@11,nonsense@15 folder=" + folder_.path().string(), two_cores(),
                          {"--max-per-gpu", "1"});
  EXPECT_EQ(faulty.exit_code, 0) << faulty.err;
  EXPECT_EQ(texts(), expected);
  EXPECT_EQ(report()["successful"], kRecordings);
  EXPECT_GE(restarts(), 3) << faulty.err;  // one that comes with the end of the run is not counted
  for (const char* words : {"exited with status 7", "the last words before die", "message of protocol 15",
                            "its answer is nonsense: transcript JSON, segments[0].end"})
    EXPECT_NE(faulty.err.find(words), std::string::npos) << words << " in\n" << faulty.err;
  // Whichever is noticed first: pings without an answer, or a window that does not come back.
  EXPECT_TRUE(std::regex_search(faulty.err, std::regex("the worker has hung|no window has come back"))) << faulty.err;
}

TEST_F(OtherEngine, KilledBatchGoesOnWhereItWas) {
  std::vector<pid_t> engines;
  {
    RunningProgram killed(words("cpu", {"--engine", engine("seconds=0.3")}), settings());
    eventually([&] { return texts().size() >= 3; });
    engines = children_of(killed.pid(), "python");
    EXPECT_FALSE(engines.empty());
    ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
    killed.wait();
  }
  for (const pid_t process : engines) eventually([&] { return ::kill(process, 0) != 0; });
  const auto resumed = run("", "cpu");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(texts().size(), kRecordings);
  EXPECT_LE(report()["done_in_this_run"], kRecordings - 3);
  EXPECT_GT(report()["done_in_this_run"], 0);
  clear();
  ASSERT_EQ(run("name=other", "cpu").exit_code, 0);
  const auto again = run("", "cpu");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(report()["done_in_this_run"], kRecordings) << "texts of another engine are others";
}

TEST_F(OtherEngine, RecordingThatKillsItIsSetAsideWithEvidence) {
  fs::remove(recording(9));  // as long as r4, the longest of the others
  const auto end = run("poison=" + std::to_string(17 * 16000), two_cores());
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_EQ(report()["successful"], kRecordings - 2);
  const json reported = report();
  for (const auto& asset : reported["assets"]) {
    if (asset["status"] != "failed") continue;
    EXPECT_NE(asset["error"].get<std::string>().find("exited with status 9"), std::string::npos) << asset;
  }
}

TEST_F(OtherEngine, GetsTheOptionsThatItTakes) {
  const auto end = run("abilities=language,word_timestamps,beam_size languages=de", "cpu",
                       {"--language", "German", "--word-timestamps", "--beam-size", "7", "--skip", "9"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto all = transcripts();
  ASSERT_EQ(all.size(), 1U);
  const json& transcript = all.begin()->second;
  const json& segment = transcript["segments"][0];
  EXPECT_NE(segment["text"].get<std::string>().find("[('beam_size', 7), ('word_timestamps', True)]"), std::string::npos)
      << segment;
  EXPECT_EQ(segment["words"].size(), 1U);
  EXPECT_EQ(transcript["language"], "German");
}

TEST_F(OtherEngine, WhatItCannotDoIsRefusedByName) {
  struct Case {
    std::string command;
    std::vector<std::string> flags;
    int exit_code;
    std::string words;
  };
  const std::vector<Case> cases{
      {engine(), {"--word-timestamps"}, 2, "--word-timestamps: fake 1.0 does not take this option. It takes language"},
      {engine(), {"--task", "translate"}, 2, "--task: fake 1.0 does not take this option"},
      {engine(), {"--beam-size", "5"}, 2, "--beam-size: fake 1.0 does not take"},
      {engine(), {"--batch-size", "4"}, 2, "--batch-size: fake 1.0 does not take"},
      {engine(), {"--model", "tiny.en"}, 2, "--model: fake 1.0 does not take"},
      {engine("abilities="), {"--language", "en"}, 2, "--language: fake 1.0 does not take this option. It takes none"},
      {engine("languages=en,fr"), {"--language", "de"}, 2, "--language: fake 1.0 does not know 'de'"},
      {engine(), {"--sequential"}, 2, "--sequential has no effect with --engine"},
      {engine(), {"--model-dir", "/"}, 2, "--model-dir has no effect with --engine"},
      {engine("abilities=model"), {"--model", "none"}, 4, "none: no such model"},
      {engine("protocol=7"), {}, 4, "message of protocol 7 at offset 0: this build speaks 10"},
      {"python3 'unclosed", {}, 2, "expected a closing '"},
      {"/bin/echo no engine", {}, 4, "closed its connection (process"},
      {"/no/such/engine", {}, 4, "/no/such/engine"},
      {kTutti + " no-such-command", {}, 4, "--engine: "},
  };
  for (const Case& refused : cases) {
    auto flags = refused.flags;
    flags.insert(flags.end(), {"--engine", refused.command});
    const auto end = batch("cpu", flags);
    EXPECT_EQ(end.exit_code, refused.exit_code) << refused.command << "\n" << end.err;
    EXPECT_NE(end.err.find(refused.words), std::string::npos) << refused.words << " in\n" << end.err;
    EXPECT_TRUE(texts().empty());
  }
  const auto emulated = run("", "emulated:30x:12GB");
  EXPECT_EQ(emulated.exit_code, 2) << emulated.err;
  EXPECT_NE(emulated.err.find("--engine: emulated devices have no engine"), std::string::npos) << emulated.err;
}
