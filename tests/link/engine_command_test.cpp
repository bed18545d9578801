#include "link/engine_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/program_paths.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace {

std::filesystem::path executable_in(const TempFolder& folder) {
  const auto path = folder / "tutti-engine";
  std::ofstream(path) << "#!/bin/sh\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace

TEST(SplitWords, SplitsAsAShellDoes) {
  EXPECT_THAT(split_words("gdb --args").value(), ElementsAre("gdb", "--args"));
  EXPECT_THAT(split_words("  a\t b\n").value(), ElementsAre("a", "b"));
  EXPECT_THAT(split_words(R"(perf -o 'my file' "a \"b\" c")").value(),
              ElementsAre("perf", "-o", "my file", R"(a "b" c)"));
  EXPECT_THAT(split_words(R"(a\ b c'd e'f '\n')").value(), ElementsAre("a b", "cd ef", R"(\n)"));
  EXPECT_THAT(split_words("x '' \"\"").value(), ElementsAre("x", "", ""));
  EXPECT_TRUE(split_words("").value().empty());
}

TEST(SplitWords, AQuoteThatIsNeverClosedIsRefused) {
  for (const char* open : {"gdb '--args", "\"", "a \"b\\\""}) EXPECT_FALSE(split_words(open)) << open;
}

TEST(EngineCommand, EngineIsFoundBesideTheProgram) {
  const TempFolder folder;
  const auto engine = executable_in(folder);
  const auto command = engine_command({.own_folder = folder.path()}, {"worker"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_THAT(command->words, ElementsAre(engine.string(), "worker"));
  EXPECT_FALSE(command->wrapped);
}

TEST(EngineCommand, TheEnvironmentMayNameAnotherEngineAndAWrapper) {
  const TempFolder folder;
  const auto engine = executable_in(folder);
  const auto command =
      engine_command({.engine = engine.string(), .wrapper = "gdb --args", .own_folder = "/nowhere"}, {"worker"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_THAT(command->words, ElementsAre("gdb", "--args", engine.string(), "worker"));
  EXPECT_TRUE(command->wrapped);
}

// As soon as anything else wants a core, threads that spin for long starve each other.
TEST(EngineCommand, ThreadsSpinBrieflyUnlessTheUserSetsIt) {
  const TempFolder folder;
  executable_in(folder);
  EXPECT_THAT(engine_command({.own_folder = folder.path()}, {})->environment,
              ElementsAre(Pair("GOMP_SPINCOUNT", "1000")));
  EXPECT_THAT(engine_command({.own_folder = folder.path(), .threads_set_by_user = true}, {})->environment, IsEmpty());
}

TEST(EngineCommand, MissingEngineErrorNamesTheSearchedPath) {
  const TempFolder folder;
  const auto beside = engine_command({.own_folder = folder.path()}, {});
  ASSERT_FALSE(beside);
  EXPECT_EQ(beside.error().fault, Fault::missing);
  EXPECT_THAT(beside.error().text(), HasSubstr((folder / "tutti-engine").string() + " (beside tutti)"));
  EXPECT_THAT(beside.error().text(), HasSubstr("Set TUTTI_ENGINE"));
  const auto named = engine_command({.engine = folder.path().string()}, {});
  ASSERT_FALSE(named) << "a folder is no engine";
  EXPECT_THAT(named.error().text(), HasSubstr("(TUTTI_ENGINE)"));
}

TEST(EngineCommand, EngineIsBesideTheProgramThatMainNamed) {
  set_program_paths(ProgramPaths::of("/proc/self/exe"));
  EXPECT_EQ(EngineSettings::of_this_process().own_folder, std::filesystem::path(TUTTI_BINARY_DIR) / "bin");
}
