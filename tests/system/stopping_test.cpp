// What happens when something is killed or stopped in the middle.

#include <gtest/gtest.h>

#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"
#include "support/eventually.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

using std::chrono::milliseconds;

std::string clip(const std::string& name) {
  return (test_data() / "whisper-tiny.en/clips" / name).string();
}

std::vector<std::string> command(const TempFolder& out, const std::vector<std::string>& files) {
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 (test_data() / "whisper-tiny.en").string(),
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

}  // namespace

TEST(Stopping, AWorkerKilledInMidFileCostsNothingOfTheTranscript) {
  TUTTI_NEEDS("whisper-tiny.en/clips/long-three-minutes.flac");
  const TempFolder quiet, disturbed;
  ASSERT_EQ(run_program(command(quiet, {clip("long-three-minutes.flac")})).exit_code, 0);

  RunningProgram program(command(disturbed, {clip("long-three-minutes.flac")}));
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

TEST(Stopping, NoWorkerOutlivesAKilledParent) {
  TUTTI_NEEDS("whisper-tiny.en/clips/long-three-minutes.flac");
  const TempFolder out;
  RunningProgram program(command(out, {clip("long-three-minutes.flac")}));
  ASSERT_TRUE(program.saw("\"segment\""));
  const pid_t worker = worker_of(program.pid());
  ASSERT_GT(worker, 0);
  const OwnedFd handle = handle_of(worker);
  ASSERT_EQ(::kill(program.pid(), SIGKILL), 0);
  EXPECT_TRUE(has_ended(handle, milliseconds(5000)));
  EXPECT_EQ(program.wait().exit_code, 128 + SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(out.path())) << "an unfinished file leaves nothing";
}

TEST(StoppingTimed, CtrlCKeepsWhatIsFinishedAndExitsWith130WithinASecond) {
  TUTTI_NEEDS("whisper-tiny.en/clips/long-eight-minutes.flac");
  const TempFolder out;
  RunningProgram program(command(out, {clip("string-george.wav"), clip("long-eight-minutes.flac")}));
  ASSERT_TRUE(program.saw("\"done\""));
  const auto pressed = Clock::real().now();
  ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  const ProgramEnd end = program.wait();
  const Seconds took = Clock::real().now() - pressed;
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_LT(took.count(), 1.5) << "a second, and a half for a busy machine";
  EXPECT_NE(end.err.find("--skip-existing"), std::string::npos) << end.err;
  EXPECT_TRUE(std::filesystem::exists(out / "string-george.txt"));
  EXPECT_FALSE(std::filesystem::exists(out / "long-eight-minutes.txt"));
}

TEST(Stopping, CtrlCWhileTheModelLoadsSaysHowToGoOn) {
  TUTTI_NEEDS("whisper-tiny.en/clips/string-george.wav");
  const TempFolder out;
  RunningProgram program(command(out, {clip("string-george.wav")}));
  eventually([&] { return worker_of(program.pid()) > 0; });  // from here on signals are waited for
  ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  const ProgramEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_NE(end.err.find("--skip-existing"), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("error: stopped"), std::string::npos) << end.err;
}
