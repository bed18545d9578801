#include "base/process/shell_command.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

const std::function<bool()> kGoesOn = [] { return true; };

TEST(ShellCommand, WordsReachAProgramAsTheyAre) {
  const TempFolder folder;
  const std::string word = "it's \"a\" $HOME `id` \\ *\n;é";
  const auto end = run_shell_command("printf %s " + shell_word(word) + " > " + shell_word((folder / "a b").string()),
                                     "test", kGoesOn);
  ASSERT_TRUE(end) << end.error().text();
  EXPECT_EQ(end->status, 0);
  EXPECT_EQ(read_file(folder / "a b").value(), word);
  EXPECT_EQ(shell_word("plain/Name-1.txt"), "plain/Name-1.txt");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellCommand, TheExitStatusIsReported) {
  const auto end = run_shell_command("exit 7", "test", kGoesOn);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 7);
  EXPECT_EQ(end->words, "exited with status 7");
}

TEST(ShellCommand, OneThatIsNotWantedAnyMoreIsEnded) {
  const auto end = run_shell_command("sleep 1000", "test", [] { return false; });
  ASSERT_TRUE(end);
  EXPECT_NE(end->signal, 0);
}

}  // namespace
}  // namespace tutti
