// What trainings do with memory, and where the machine lacks something.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <utility>

#include "support/memory_limit.h"
#include "support/process_tree.h"
#include "system/training_runs.h"

using namespace tutti;

/// What a process holds of memory now, in MiB.
static double resident(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

TEST(TrainingMachine, MemoryIsFlatOverFiveEpochs) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  if (!MemoryLimit::can_be_survived()) GTEST_SKIP() << "a sanitizer keeps what was given back";
  const TempFolder out;
  // Windows, so that every step is like the others: four an epoch, of 1.9 MB of features each.
  RunningProgram program(
      training(out.path(), {"--padding", "window", "--epochs", "9", "--max-steps", "0", "--save-steps", "0",
                            "--threads", "2", "--log-steps", "1000", "--ring-megabytes", "1"}));
  ASSERT_TRUE(program.saw("epoch 3: "));
  const pid_t engine = worker_of(program.pid());
  ASSERT_GT(engine, 0);
  const double before = resident(engine);
  ASSERT_TRUE(program.saw("epoch 8: "));
  const double after = resident(engine);
  ASSERT_GT(before, 0);
  EXPECT_LT(after, before + 16) << "MiB; a batch a step that is never freed would be 37";
  EXPECT_EQ(program.wait().exit_code, 0);
}

TEST(TrainingMachine, ThreadCreationFailureNamesARemedy) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  if (!MemoryLimit::can_be_survived()) GTEST_SKIP() << "a sanitizer takes more than any limit";
  rlimit stack{};
  ::getrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_max < (rlim_t{5} << 30)) GTEST_SKIP() << "stacks may not be as large as this needs";
  const TempFolder out;
  // Every thread requests a stack that is larger than all of the memory.
  std::vector<std::string> words{"/bin/bash", "-c", "ulimit -s 5000000 && ulimit -v 4000000 && exec \"$@\"", "bash"};
  for (auto& word : training(out.path())) words.push_back(std::move(word));
  const auto end = run_program(words);
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_NE(end.err.find("no thread could be started: memory ran out"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("ulimit -v"), std::string::npos) << end.err;
}

TEST(TrainingMachine, KilledEngineErrorMentionsLackOfMemory) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  RunningProgram program(training(out.path(), {"--epochs", "1000", "--max-steps", "0"}));
  ASSERT_TRUE(program.saw("step 1"));
  const pid_t engine = worker_of(program.pid());
  ASSERT_GT(engine, 0);
  ASSERT_EQ(::kill(engine, SIGKILL), 0);
  const auto end = program.wait();
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_NE(end.err.find("for want of memory"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("--resume"), std::string::npos) << end.err;
}

TEST(TrainingMachine, WhereRatesCannotBeChangedNoSampleIsBlamed) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out, libraries;
  for (int version = 4; version < 10; ++version)  // whichever this was built for is found first, and is none
    ASSERT_TRUE(write_file_atomically(libraries / ("libswresample.so." + std::to_string(version)), ""));
  const auto end = run_program(training(out.path()), {"LD_LIBRARY_PATH=" + libraries.path().string()});
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_NE(end.err.find("Install FFmpeg's libraries"), std::string::npos) << end.err;
  EXPECT_EQ(read_file(out / "bad_samples.jsonl").value(), "") << "they are as good as they were";
}
