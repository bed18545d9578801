#include "base/process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/process/process_setup.h"
#include "support/log_capture.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Shell {
  explicit Shell(const std::string& script, ChildOptions options = {}) {
    options.name = "child";
    options.command = {"sh", "-c", script};
    child = Child::start(options).value();
  }
  std::unique_ptr<Child> child;
};

constexpr Seconds kLong{60};

}  // namespace

TEST(Child, OutputIsLoggedByLineAndTheLastLinesAreKept) {
  LogCapture log;
  Shell shell("echo out; echo err >&2; printf 'no newline'");
  EXPECT_EQ(shell.child->end(kLong).words, "exited with status 0");
  EXPECT_THAT(shell.child->last_lines(), ElementsAre("out", "err", "no newline"));
  EXPECT_EQ(log.wait_for("err").text, "child: err");
}

TEST(Child, LogLineOfOwnProcessKeepsItsLevelUnderOnePrefix) {
  LogCapture log;
  Shell shell("echo 'tutti: warning: slow'; echo 'tutti: error: gone'; echo 'tutti: fine'; echo 'warning: not ours'");
  shell.child->end(kLong);
  EXPECT_EQ(log.wait_for("slow").text, "child: slow");
  EXPECT_EQ(log.wait_for("slow").level, Level::warning);
  EXPECT_EQ(log.wait_for("gone").text, "child: gone");
  EXPECT_EQ(log.wait_for("gone").level, Level::error);
  EXPECT_EQ(log.wait_for("fine").text, "child: fine");
  EXPECT_EQ(log.wait_for("not ours").text, "child: warning: not ours");
  EXPECT_EQ(log.wait_for("not ours").level, Level::info);
  EXPECT_THAT(shell.child->last_lines(), testing::Contains("tutti: warning: slow")) << "evidence is as it was written";
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

TEST(Child, ExitStatusIsDescribedInWords) {
  const LogCapture log;
  EXPECT_EQ(Shell("exit 3").child->end(kLong).words, "exited with status 3");
  EXPECT_EQ(Shell("kill -SEGV $$").child->end(kLong).words, "was killed by signal 11 (Segmentation fault)");
  Shell twice("exit 4");
  twice.child->end(kLong);
  EXPECT_EQ(twice.child->end(kLong).words, "exited with status 4");
}

TEST(Child, IgnoredSigchldRefusesChildrenUntilMainKeepsTheirEnds) {
  const LogCapture log;
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto refused = Child::start({.name = "shell", .command = {"/bin/sh", "-c", "exit 3"}});
  ASSERT_FALSE(refused) << "its end would be lost, and the signal is this program's";
  EXPECT_THAT(refused.error().what, HasSubstr("ignores SIGCHLD"));
  keep_ends_of_children();
  Shell shell("exit 3");
  EXPECT_EQ(shell.child->end(kLong).status, 3);
  std::signal(SIGCHLD, before);
}

TEST(Child, ChildReapedElsewhereIsNotReportedAsSuccess) {
  const LogCapture log;
  Shell shell("exit 0");
  ASSERT_EQ(::waitpid(shell.child->pid(), nullptr, 0), shell.child->pid());
  EXPECT_EQ(shell.child->end(Seconds(0)).status, -1);
}

TEST(Child, ChildIgnoringSigtermIsKilledWithItsGroup) {
  LogCapture log;
  Shell shell("trap '' TERM; sleep 1000 & echo grandchild $!; wait");
  const OwnedFd grandchild = open_pidfd(log.number_after("grandchild"));
  EXPECT_THAT(shell.child->end(Seconds(0)).words, HasSubstr("was killed by signal 9"));
  pollfd waiting{.fd = grandchild.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiting, 1, 10000), 1) << "the grandchild lives on";
}

TEST(Child, AGrandchildThatKeepsTheOutputOpenDoesNotHoldUsUp) {
  LogCapture log;
  Shell shell("setsid sleep 1000 & echo escaped $!; exit 0");
  const int escaped = log.number_after("escaped");
  EXPECT_EQ(shell.child->end(kLong).words, "exited with status 0");
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

TEST(Child, ItHoldsWhatItIsHandedAndNoOtherDescriptorOfOurs) {
  const LogCapture log;
  const OwnedFd leaky(::dup(1));  // as a library might: without O_CLOEXEC
  ASSERT_TRUE(leaky);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reader(ends[0]), writer(ends[1]);
  Shell shell("echo three >&3; cd /proc/self/fd && echo *", {.handed = {{writer.get(), 3}, {reader.get(), 5}}});
  shell.child->end(kLong);
  char output[16] = {};
  EXPECT_EQ(::read(reader.get(), output, sizeof output), 6);
  EXPECT_STREQ(output, "three\n");
  // 0 to 2, what it was handed, and what the shell itself opens to list the folder.
  ASSERT_EQ(shell.child->last_lines().size(), 1U);
  EXPECT_THAT(shell.child->last_lines()[0], testing::MatchesRegex("0 1 2 3( 4)? 5( [0-9]+)?"));
}

TEST(Child, ItsOutputCanBeDroppedWhileItsErrorsStayOurs) {
  LogCapture log;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  Shell shell("echo lost; streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo \"$streams\" >&3",
              {.handed = {{writer.get(), 3}}, .streams = ChildStreams::errors});
  writer = OwnedFd();
  std::string output;
  char block[512];
  for (ssize_t got; (got = ::read(reader.get(), block, sizeof block)) > 0;)
    output.append(block, static_cast<std::size_t>(got));
  shell.child->end(kLong);
  EXPECT_EQ(output, "/dev/null\n/dev/null\n" + std::filesystem::read_symlink("/proc/self/fd/2").string() + "\n");
  EXPECT_THAT(shell.child->last_lines(), testing::IsEmpty());
}

TEST(Child, ItDiesWithTheThreadThatStartedIt) {
  const LogCapture log;
  std::unique_ptr<Shell> shell;
  std::thread([&] { shell = std::make_unique<Shell>("sleep 1000"); }).join();
  EXPECT_EQ(shell->child->end(kLong).signal, SIGKILL);
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
  // Signals 32 and 33 are the C library's own. The parent of the tests may have left them ignored, which no process can
  // change.
  constexpr std::uint64_t kOurs = ~(std::uint64_t{3} << 31);
  const auto mask = [](const std::string& line) { return std::stoull(line.substr(line.find('\t') + 1), nullptr, 16); };
  EXPECT_EQ(mask(lines[2]) & kOurs, 0U) << lines[2];
  EXPECT_EQ(mask(lines[3]) & kOurs, 0U) << lines[3];
}

TEST(Child, AProgramThatIsNotThereIsAnErrorWithItsName) {
  const auto child = Child::start({.name = "child", .command = {"/nowhere/engine"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().fault, Fault::missing);
  EXPECT_THAT(child.error().what, HasSubstr("/nowhere/engine could not be started: No such file"));
}

TEST(Child, ADescriptorThatIsNotOpenCannotBeHanded) {
  const auto child = Child::start({.name = "child", .command = {"true"}, .handed = {{-1, 3}}});
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().what, HasSubstr("true could not be started: Bad file descriptor"));
}
