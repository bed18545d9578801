#include "link/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

#include "link/connection.h"
#include "log_capture.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Shell {
  explicit Shell(const std::string& script, ChildOptions options = {}) {
    auto pair = Connection::make_pair().value();
    socket = std::move(pair.first);
    options.name = "child";
    options.command = {"sh", "-c", script};
    child = Child::start(options, std::move(pair.second)).value();
  }
  OwnedFd socket;
  std::unique_ptr<Child> child;
};

constexpr Seconds kLong{60};

}  // namespace

TEST(Child, WhatItWritesReachesTheLogLineByLineAndTheLastLinesAreKept) {
  LogCapture log;
  Shell shell("echo out; echo err >&2; printf 'no newline'");
  EXPECT_EQ(shell.child->end(kLong), "exited with status 0");
  EXPECT_THAT(shell.child->last_lines(), ElementsAre("out", "err", "no newline"));
  EXPECT_EQ(log.wait_for("err").text, "child: err");
}

TEST(Child, OnlyTheLastLinesAreKeptAndALongLineComesInParts) {
  const LogCapture log;
  Shell shell("seq 100; head -c 5000 /dev/zero | tr '\\0' x");
  shell.child->end(kLong);
  const auto lines = shell.child->last_lines();
  ASSERT_EQ(lines.size(), LineLog::kKept);
  EXPECT_EQ(lines[0], "83");
  EXPECT_EQ(lines[LineLog::kKept - 2].size(), LineLog::kLongest);
  EXPECT_EQ(lines.back().size(), 5000 - LineLog::kLongest);
}

TEST(Child, HowItEndedIsSaidInWords) {
  const LogCapture log;
  EXPECT_EQ(Shell("exit 3").child->end(kLong), "exited with status 3");
  EXPECT_EQ(Shell("kill -SEGV $$").child->end(kLong), "was killed by signal 11 (Segmentation fault)");
  Shell twice("exit 4");
  twice.child->end(kLong);
  EXPECT_EQ(twice.child->end(kLong), "exited with status 4");
}

TEST(Child, OneThatDoesNotGoIsKilledWithItsWholeGroup) {
  LogCapture log;
  Shell shell("trap '' TERM; sleep 1000 & echo grandchild $!; wait");
  const OwnedFd grandchild = open_pidfd(log.number_after("grandchild"));
  EXPECT_THAT(shell.child->end(Seconds(0)), HasSubstr("was killed by signal 9"));
  pollfd waiting{.fd = grandchild.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiting, 1, 10000), 1) << "the grandchild lives on";
}

TEST(Child, AGrandchildThatKeepsTheOutputOpenDoesNotHoldUsUp) {
  LogCapture log;
  Shell shell("setsid sleep 1000 & echo escaped $!; exit 0");
  const int escaped = log.number_after("escaped");
  EXPECT_EQ(shell.child->end(kLong), "exited with status 0");
  EXPECT_EQ(::kill(escaped, SIGKILL), 0) << "it left the group, so it is still there";
}

TEST(Child, ItsEnvironmentIsOursWithAdditions) {
  const LogCapture log;
  ASSERT_EQ(::setenv("TUTTI_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(::setenv("TUTTI_TEST_REPLACED", "old", 1), 0);
  Shell shell("echo $TUTTI_TEST_KEPT $TUTTI_TEST_REPLACED $TUTTI_TEST_ADDED",
              {.environment = {{"TUTTI_TEST_REPLACED", "new"}, {"TUTTI_TEST_ADDED", "added"}}});
  shell.child->end(kLong);
  EXPECT_THAT(shell.child->last_lines(), ElementsAre("kept new added"));
}

TEST(Child, ItHoldsItsSocketAndNoOtherDescriptorOfOurs) {
  const LogCapture log;
  const OwnedFd leaky(::dup(1));  // as a library might: without O_CLOEXEC
  ASSERT_TRUE(leaky);
  Shell shell("cd /proc/self/fd && echo *");
  shell.child->end(kLong);
  // 0 to 2, the socket, and what the shell itself opens to list the folder.
  ASSERT_EQ(shell.child->last_lines().size(), 1U);
  EXPECT_THAT(shell.child->last_lines()[0], testing::MatchesRegex("0 1 2 3( [0-9]+)?"));
}

TEST(Child, ItHasItsOwnProcessGroupAndDefaultSignals) {
  const LogCapture log;
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGINT);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  Shell shell("cut -d' ' -f5 /proc/$$/stat; echo $$; exec grep -E 'SigBlk|SigIgn' /proc/self/status");
  shell.child->end(kLong);
  std::signal(SIGPIPE, handler);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const auto lines = shell.child->last_lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(std::stoi(lines[0]), std::stoi(lines[1]));
  // 32 and 33 are the C library's own; whoever started the tests may have left them ignored, and nobody can change
  // that.
  constexpr std::uint64_t kOurs = ~(std::uint64_t{3} << 31);
  const auto mask = [](const std::string& line) { return std::stoull(line.substr(line.find('\t') + 1), nullptr, 16); };
  EXPECT_EQ(mask(lines[2]) & kOurs, 0U) << lines[2];
  EXPECT_EQ(mask(lines[3]) & kOurs, 0U) << lines[3];
}

TEST(Child, AProgramThatIsNotThereIsAnErrorWithItsName) {
  auto pair = Connection::make_pair().value();
  const auto child = Child::start({.name = "child", .command = {"/nowhere/engine"}}, std::move(pair.second));
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().fault, Fault::missing);
  EXPECT_THAT(child.error().what, HasSubstr("/nowhere/engine could not be started: No such file"));
}
