#include "link/worker_handle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/eventually.h"
#include "support/least_of.h"
#include "support/log_capture.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

const std::string kScriptedWorker = TUTTI_BINARY_DIR "/bin/scripted_worker";
const std::string kScriptedParent = TUTTI_BINARY_DIR "/bin/scripted_parent";

WorkerOptions scripted(std::vector<std::string> script) {
  script.insert(script.begin(), kScriptedWorker);
  return {.name = "worker", .command = {.words = std::move(script)}, .build_id = "scripted"};
}

std::unique_ptr<WorkerHandle> start(std::vector<std::string> script) {
  return WorkerHandle::start(scripted(std::move(script))).value();
}

std::vector<float> mel_of(WindowId window) {
  return std::vector<float>(80 * 4, static_cast<float>(window));
}

Result<Opened> open(WorkerHandle& worker, WindowId window) {
  return worker.open({.window = window, .n_mels = 80, .frames = 4}, mel_of(window));
}

DecodeWindow request(WindowId window) {
  return {.window = window, .request = 1000 + window, .prompt = {50257, 50362}, .temperature = 0.5F};
}

// What the scripted worker makes of `request` and mel_of(window), whichever process of it answers.
void expect_right(const Result<Decoded>& decoded, WindowId window) {
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->request, 1000 + window);
  EXPECT_THAT(decoded->tokens, testing::ElementsAre(50257, 50362, static_cast<int>(window)));
  EXPECT_EQ(decoded->sum_logprob, 320.0 * static_cast<double>(window));
}

void transcribe(WorkerHandle& worker, WindowId window) {
  ASSERT_TRUE(open(worker, window));
  expect_right(worker.decode(request(window)), window);
  worker.release(window);
}

bool exists(int pid) {
  return std::filesystem::exists("/proc/" + std::to_string(pid));
}

class WorkerHandleTest : public testing::Test {
 protected:
  LogCapture log_;
};
using WorkerHandleTimed = WorkerHandleTest;

}  // namespace

TEST_F(WorkerHandleTest, OpensDecodesAndDetectsTheLanguage) {
  const auto worker = start({});
  const auto ready = worker->ready();
  ASSERT_TRUE(ready) << ready.error().text();
  EXPECT_EQ(ready->slots, 8);
  const auto opened = open(*worker, 3);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->window, 3U);
  EXPECT_THAT(worker->detect_language(3)->probabilities, testing::ElementsAre(0.75F, 0.25F));
  expect_right(worker->decode(request(3)), 3);
  expect_right(worker->decode(request(3)), 3);
  worker->release(3);
}

TEST_F(WorkerHandleTest, ProcessIsKnownWhileItRuns) {
  const auto worker = start({});
  ASSERT_TRUE(worker->ready());
  const auto process = worker->process();
  ASSERT_TRUE(process);
  EXPECT_TRUE(exists(*process));
  worker->stop(Seconds(0));
  eventually([&] { return worker->ended().has_value(); });
  EXPECT_FALSE(worker->process());
}

TEST_F(WorkerHandleTest, AlignsADecodedWindow) {
  const auto worker = start({});
  ASSERT_TRUE(open(*worker, 7));
  expect_right(worker->decode(request(7)), 7);
  const auto aligned = worker->align({.window = 7, .request = 5, .text_tokens = {440, 441}, .frames = 4});
  ASSERT_TRUE(aligned) << aligned.error().text();
  EXPECT_THAT(aligned->starts, testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(aligned->probabilities, testing::ElementsAre(0.5F, 0.5F));
  worker->release(7);
}

TEST_F(WorkerHandleTest, TranscribesAWindowOfPcm) {
  const auto worker = start({});
  ASSERT_TRUE(worker->open({.window = 7, .frames = 400}, std::vector<float>(400, 0.25F)));
  const auto text = worker->transcribe({.window = 7, .language = "en", .options = "{}"});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(text->transcript, "en {} 100");
  EXPECT_EQ(text->seconds, 0.5);
  worker->release(7);
}

TEST_F(WorkerHandleTest, InvalidCallsAreRefusedAtOnce) {
  const auto worker = start({});
  EXPECT_THAT(worker->open({.window = 1, .n_mels = 80, .frames = 5}, mel_of(1)).error().what,
              HasSubstr("expected 80 x 5 mel values, found 320"));
  EXPECT_THAT(worker->decode(request(1)).error().what, HasSubstr("window 1 is not open"));
  ASSERT_TRUE(open(*worker, 1));
  EXPECT_THAT(open(*worker, 1).error().what, HasSubstr("in use"));
  worker->release(1);
  worker->release(99);
}

TEST_F(WorkerHandleTest, EightCallersShareOneWorker) {
  const auto worker = start({});
  std::vector<std::jthread> callers;
  for (WindowId caller = 1; caller <= 8; ++caller)
    callers.emplace_back([&, caller] {
      for (WindowId round = 0; round < 25; ++round) transcribe(*worker, caller * 100 + round);
    });
}

TEST_F(WorkerHandleTest, AKilledWorkerEndsItsRequestAndIsReaped) {
  const auto worker = start({"then=stall"});
  Result<Decoded> decoded;
  std::jthread caller([&] {
    ASSERT_TRUE(open(*worker, 7));
    decoded = worker->decode(request(7));
  });
  const int pid = log_.number_after("stall of process");
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  caller.join();
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().fault, Fault::device);
  EXPECT_THAT(decoded.error().what, HasSubstr("was killed by signal 9"));
  EXPECT_FALSE(exists(pid)) << "a killed worker must be reaped";
  EXPECT_EQ(open(*worker, 8).error().what, decoded.error().what);
}

TEST_F(WorkerHandleTest, CrashBlamesTheWindowAndAnOutsideKillDoesNot) {
  const auto crashing = start({"then=crash", "after=1"});
  transcribe(*crashing, 1);
  EXPECT_FALSE(open(*crashing, 2) && crashing->decode(request(2)));
  EXPECT_FALSE(crashing->ended_unclearly()) << crashing->ended()->what;

  const auto killed = start({"then=stall"});
  std::jthread caller([&] { EXPECT_FALSE(open(*killed, 7) && killed->decode(request(7))); });
  ASSERT_EQ(::kill(log_.number_after("stall of process"), SIGKILL), 0);
  caller.join();
  EXPECT_TRUE(killed->ended_unclearly()) << killed->ended()->what;
}

TEST_F(WorkerHandleTimed, HungWorkerIsDetectedInASecond) {
  constexpr Seconds kLimit{1.5};  // a second by design
  const auto until_noticed = [] {
    LogCapture log;
    const auto worker = start({"then=hang", "after=1"});
    transcribe(*worker, 1);
    EXPECT_TRUE(open(*worker, 2));
    const auto decoded = worker->decode(request(2));
    const auto noticed = std::chrono::steady_clock::now();
    EXPECT_FALSE(decoded);
    EXPECT_TRUE(decoded || decoded.error().what.find("has hung") != std::string::npos);
    EXPECT_FALSE(exists(log.number_after("hang of process")));
    return Seconds(noticed - log.wait_for("hang of process").at);
  };
  EXPECT_LT(least_of_three(kLimit, until_noticed), kLimit);
}

TEST_F(WorkerHandleTest, GarbledMessageEndsTheWorker) {
  const auto worker = start({"then=garble", "after=1"});
  transcribe(*worker, 1);
  ASSERT_TRUE(open(*worker, 2));
  EXPECT_THAT(worker->decode(request(2)).error().what, HasSubstr("message of protocol 15"));
}

TEST_F(WorkerHandleTest, UnrequestedAnswerEndsTheWorker) {
  const auto worker = start({"then=repeat"});
  transcribe(*worker, 1);
  eventually([&] { return worker->ended().has_value(); });
  EXPECT_THAT(worker->ended()->what, HasSubstr("which did not request it"));
}

TEST_F(WorkerHandleTest, OutOfMemoryIsPassedToTheCaller) {
  const auto worker = start({"then=exhausted"});
  ASSERT_TRUE(open(*worker, 1));
  const auto decoded = worker->decode(request(1));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().fault, Fault::exhausted);
  EXPECT_EQ(decoded.error().what, "out of memory");
}

TEST_F(WorkerHandleTest, WorkerThatExitsUnreadyIsNamedWithItsLastOutput) {
  const auto worker = start({"load=exit"});
  const auto ready = worker->ready();
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().what, HasSubstr("exited with status 7"));
  EXPECT_THAT(ready.error().what, HasSubstr("the last words"));
  EXPECT_EQ(open(*worker, 1).error().what, ready.error().what);
}

TEST_F(WorkerHandleTest, MissingModelFailsAtOnce) {
  auto options = scripted({"load=missing"});
  options.model.model_path = "/models/none";
  const auto ready = WorkerHandle::start(options).value()->ready();
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().fault, Fault::missing);
  EXPECT_THAT(ready.error().what, HasSubstr("/models/none: no such model"));
}

TEST_F(WorkerHandleTest, AnotherBuildProtocolOrDeviceStopsItAtOnce) {
  EXPECT_THAT(start({"build=older"})->ready().error().what, HasSubstr("build 'older', expected 'scripted'"));
  EXPECT_THAT(start({"protocol=77"})->ready().error().what, HasSubstr("protocol 77, expected"));
  auto options = scripted({"uuid=GPU-2"});
  options.device_uuid = "GPU-1";
  EXPECT_THAT(WorkerHandle::start(options).value()->ready().error().what,
              HasSubstr("sees device 'GPU-2', expected 'GPU-1'"));
}

TEST_F(WorkerHandleTest, TheWorkerSeesTheOneDeviceItWasStartedFor) {
  auto options = scripted({});  // its Hello repeats CUDA_VISIBLE_DEVICES
  options.device_uuid = "GPU-1";
  EXPECT_TRUE(WorkerHandle::start(options).value()->ready());
}

TEST_F(WorkerHandleTest, EndlessModelLoadTimesOut) {
  auto options = scripted({"load=hang"});
  options.load_limit = Seconds(0.05);
  const auto ready = WorkerHandle::start(options).value()->ready();
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().what, HasSubstr("was not ready within"));
}

TEST_F(WorkerHandleTest, MissingProgramFailsAtOnce) {
  auto options = scripted({});
  options.command.words = {"/nowhere/tutti-engine"};
  const auto ready = WorkerHandle::start(options).value()->ready();
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().fault, Fault::missing);
  EXPECT_THAT(ready.error().what, HasSubstr("/nowhere/tutti-engine could not be started"));
}

TEST_F(WorkerHandleTest, UnderAWrapperTheWorkerSharesOurTerminalAndProcessGroup) {
  auto options = scripted({});
  options.command = {.words = {"env", kScriptedWorker}, .wrapped = true};
  const auto worker = WorkerHandle::start(options).value();
  transcribe(*worker, 1);
  EXPECT_EQ(::getpgid(log_.number_after("ready as process")), ::getpgrp());
}

TEST_F(WorkerHandleTimed, StoppingReleasesACallerWhoseAnswerDoesNotComeWithinTheGrace) {
  constexpr Seconds kLimit{1.2};
  const auto until_released = [] {
    LogCapture log;
    const auto worker = start({"then=stall"});
    Result<Decoded> decoded;
    std::jthread caller([&] {
      ASSERT_TRUE(open(*worker, 7));
      decoded = worker->decode(request(7));
    });
    log.wait_for("stall of process");
    const auto begun = std::chrono::steady_clock::now();
    worker->stop();
    caller.join();
    const Seconds took = std::chrono::steady_clock::now() - begun;
    EXPECT_FALSE(decoded);
    EXPECT_TRUE(decoded || decoded.error().fault == Fault::cancelled);
    EXPECT_EQ(worker->decode(request(7)).error().fault, Fault::cancelled);
    worker->release(7);
    return took;
  };
  EXPECT_LT(least_of_three(kLimit, until_released), kLimit);
}

TEST_F(WorkerHandleTest, DestroyedHandleLeavesNoProcessAndNoDescriptor) {
  const auto open_fds = [] {
    const std::filesystem::directory_iterator fds("/proc/self/fd");
    return std::distance(begin(fds), end(fds));
  };
  const auto before = open_fds();
  transcribe(*start({}), 1);
  EXPECT_EQ(open_fds(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(WorkerHandleTest, TheWorkerDoesNotOutliveAKilledParent) {
  auto pair = Connection::make_pair().value();
  const auto parent = Child::start({.name = "parent",
                                    .command = {kScriptedParent, kScriptedWorker},
                                    .handed = {{pair.second.get(), kWorkerSocket}}})
                          .value();
  const int pid = log_.number_after("ready as process");
  const OwnedFd worker = open_pidfd(pid);
  ASSERT_TRUE(worker);
  ASSERT_EQ(::kill(parent->pid(), SIGKILL), 0);
  pollfd waiting{.fd = worker.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiting, 1, 10000), 1) << "the worker lives on";
}
