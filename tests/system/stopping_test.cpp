// What happens when something is killed or stopped in the middle.

#include <gtest/gtest.h>

#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"
#include "support/eventually.h"
#include "support/least_of.h"
#include "support/long_recording.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

using namespace tutti;

namespace {

using std::chrono::milliseconds;

std::vector<std::string> command(const TempFolder& out, const std::vector<std::string>& files) {
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 tiny_model(),
                                 "--output-dir",
                                 out.path().string(),
                                 "--output-format",
                                 "txt",
                                 "--json",
                                 "--language",
                                 "en",
                                 "--temperature-increment-on-fallback",
                                 "None"};
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

/// Skips its tests where no model is there that takes a while over minutes of speech.
class Stopping : public testing::Test {
 protected:
  void SetUp() override { TUTTI_NEEDS_TINY_MODEL(); }
  std::string minutes(int number) const { return long_recording(folder_, number).file; }
  const std::string george_ = TUTTI_SOURCE_DIR "/samples/george.wav";
  const TempFolder folder_{};
};
using StoppingTimed = Stopping;

}  // namespace

TEST_F(Stopping, AWorkerKilledInMidFileCostsNothingOfTheTranscript) {
  const TempFolder quiet, disturbed;
  const std::string recording = minutes(3);
  ASSERT_EQ(run_program(command(quiet, {recording})).exit_code, 0);

  RunningProgram program(command(disturbed, {recording}));
  ASSERT_TRUE(program.saw("\"segment\""));
  const pid_t worker = worker_of(program.pid());
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  const ProgramEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("\"worker_restarts\":1"), std::string::npos) << end.out;
  EXPECT_EQ(read_file(disturbed / "long-three-minutes.txt").value(),
            read_file(quiet / "long-three-minutes.txt").value());
}

TEST_F(Stopping, NoWorkerOutlivesAKilledParent) {
  const TempFolder out;
  RunningProgram program(command(out, {minutes(3)}));
  ASSERT_TRUE(program.saw("\"segment\""));
  const pid_t worker = worker_of(program.pid());
  ASSERT_GT(worker, 0);
  const OwnedFd handle = handle_of(worker);
  ASSERT_EQ(::kill(program.pid(), SIGKILL), 0);
  EXPECT_TRUE(has_ended(handle, milliseconds(5000)));
  EXPECT_EQ(program.wait().exit_code, 128 + SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(out.path())) << "an unfinished file leaves nothing";
}

TEST_F(StoppingTimed, CtrlCKeepsFinishedFilesAndExits130WithinASecond) {
  constexpr Seconds kLimit{1.5};  // a second, and a half for a busy machine
  const std::vector<std::string> files{george_, minutes(8)};
  const auto until_ended = [&] {
    const TempFolder out;
    RunningProgram program(command(out, files));
    EXPECT_TRUE(program.saw("\"done\""));
    const auto pressed = Clock::real().now();
    EXPECT_EQ(::kill(program.pid(), SIGINT), 0);
    const ProgramEnd end = program.wait();
    const Seconds took = Clock::real().now() - pressed;
    EXPECT_EQ(end.exit_code, 130) << end.err;
    EXPECT_NE(end.err.find("--skip-existing"), std::string::npos) << end.err;
    EXPECT_TRUE(std::filesystem::exists(out / "george.txt"));
    EXPECT_FALSE(std::filesystem::exists(out / "long-eight-minutes.txt"));
    return took;
  };
  EXPECT_LT(least_of_three(kLimit, until_ended), kLimit);
}

TEST_F(Stopping, CtrlCDuringModelLoadNamesHowToContinue) {
  const TempFolder out;
  RunningProgram program(command(out, {george_}));
  eventually([&] { return worker_of(program.pid()) > 0; });  // from here on signals are waited for
  ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  const ProgramEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_NE(end.err.find("--skip-existing"), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("error: stopped"), std::string::npos) << end.err;
}
