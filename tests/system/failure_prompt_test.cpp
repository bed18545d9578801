// `tutti batch` without --yes on a terminal: the prompt after a failed recording, and the effect of each answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/pseudo_terminal.h"
#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

constexpr const char* kQuestion = "failed. [g]o on, [r]etry, [s]top? ";

class FailurePromptTest : public BatchTest {
 protected:
  /// Its file is larger than all others, so it appears to be the longest and is claimed first.
  void damage(const std::string& name) const {
    ASSERT_TRUE(write_file_atomically(in_ / name, name + std::string(4'000'000, 'x')));
  }

  std::vector<std::string> without_yes(std::vector<std::string> more = {}) const {
    auto all = words("emulated:200x", std::move(more));
    std::erase(all, "--yes");
    return all;
  }

  std::unique_ptr<PseudoTerminal> on_a_terminal(std::vector<std::string> words) const {
    return std::make_unique<PseudoTerminal>(std::move(words), 100, 30, settings());
  }

  json asset(const std::string& name) const {
    const json reported = report();
    for (const auto& one : reported["assets"])
      if (one["name"].get<std::string>().find(name) != std::string::npos) return one;
    return {};
  }
};

}  // namespace

TEST_F(FailurePromptTest, ContinueLosesOnlyTheFailedRecording) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(std::string("bad.wav ") + kQuestion)) << terminal->sent();
  terminal->type("g\n");
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  EXPECT_EQ(report()["successful"], 10);
  EXPECT_EQ(report()["failed"], 1);
}

TEST_F(FailurePromptTest, ANameDoesNotReachTheTerminalsControls) {
  damage("red\x1b[41m.wav");
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(std::string("red [41m.wav ") + kQuestion)) << terminal->sent();
  terminal->type("g\n");
  EXPECT_EQ(terminal->wait(), 3);
  EXPECT_EQ(terminal->sent().find("\x1b[41m"), std::string::npos);
}

TEST_F(FailurePromptTest, RetryPromptsAgainUntilTheRecordingIsRepaired) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("r\n");
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  write_tone(in_ / "bad.wav", 5, 900);
  terminal->type("Retry\n");
  EXPECT_EQ(terminal->wait(), 0) << terminal->sent();
  EXPECT_EQ(report()["successful"], 11);
  EXPECT_EQ(asset("bad.wav")["attempts"], 3);
}

TEST_F(FailurePromptTest, StopLeavesTheRestToTheNextRun) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes({"--threads", "1"}));
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("s\n");
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  // One more may have been begun before the question was there, and is finished.
  const auto before = report()["successful"].get<int>();
  EXPECT_LE(before, 1);
  EXPECT_EQ(report()["failed"], 1);
  const auto left = "recordings left: " + std::to_string(10 - before) + ". The same command goes on";
  EXPECT_THAT(terminal->sent(), HasSubstr(left));
  EXPECT_EQ(batch("emulated:200x").exit_code, 3) << "the damaged one is not tried again";
  EXPECT_EQ(report()["done_in_this_run"], 10 - before);
}

TEST_F(FailurePromptTest, AfterStopThereIsNoFurtherPrompt) {
  for (const char* name : {"bad1.wav", "bad2.wav", "bad3.wav", "bad4.wav"}) damage(name);
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("stop\n");
  EXPECT_FALSE(terminal->reports(kQuestion)) << "others were being decoded at the same time";
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
}

TEST_F(FailurePromptTest, InvalidAnswerPromptsAgainAndEnterContinues) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("whatever\n");
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("\n");
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(FailurePromptTest, InputTypedBeforeThePromptIsNoAnswer) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes({"--threads", "1"}));
  terminal->type("s\n");
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("g\n");
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(FailurePromptTest, EndOfInputContinuesWithoutFurtherPrompts) {
  damage("bad1.wav");
  damage("bad2.wav");
  const auto terminal = on_a_terminal(without_yes());
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("\x04");
  ASSERT_TRUE(terminal->reports("asks no more")) << terminal->sent();
  EXPECT_FALSE(terminal->reports(kQuestion));
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  EXPECT_EQ(report()["successful"], 10);
  EXPECT_EQ(report()["failed"], 2);
}

TEST_F(FailurePromptTest, CtrlCAtTheQuestionStopsTheRunAlsoBehindHalfAnAnswer) {
  damage("bad.wav");
  const auto terminal = on_a_terminal(without_yes({"--threads", "1"}));
  ASSERT_TRUE(terminal->reports(kQuestion)) << terminal->sent();
  terminal->type("g\x03");
  EXPECT_EQ(terminal->wait(), 130) << terminal->sent();
  EXPECT_EQ(report()["interrupted"], true);
  EXPECT_EQ(report()["successful"], 0);
  const auto end = batch("emulated:200x");
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_EQ(report()["successful"], 10) << terminal->sent() << end.err;
}

TEST_F(FailurePromptTest, ARunInTheBackgroundIsNotHaltedByAQuestion) {
  damage("bad.wav");
  std::vector<std::string> shell{"/bin/sh", "-mc", "\"$@\" & wait $!", "sh"};  // -m: jobs as at a prompt
  for (const auto& word : without_yes()) shell.push_back(word);
  const auto terminal = on_a_terminal(shell);
  EXPECT_EQ(terminal->wait(), 3) << terminal->sent();
  EXPECT_EQ(terminal->sent().find(kQuestion), std::string::npos);
  EXPECT_EQ(report()["successful"], 10);
}
