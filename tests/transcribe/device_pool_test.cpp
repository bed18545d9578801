#include "transcribe/pool/device_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>

#include "link/emulated_worker.h"
#include "support/environment.h"
#include "support/log_capture.h"
#include "transcribe/run.h"
#include "transcribe/worker_start.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

constexpr std::int32_t kFrames = 3000;
const DeviceFault kLost{.lost = true, .what = "GPU is lost"};

/// A pool of emulated GPUs that `tutti` plays; each second of theirs takes three hundredths. With less, what a machine
/// that has much else to do keeps them from for a moment would be a stall to the pool: of the fastest GPU here, one of
/// half a second is.
class DevicePoolTest : public testing::Test {
 protected:
  static constexpr double kTime = 0.03;

  PooledDevice card(const std::string& id, double speed, std::vector<EmulatedFailure> failures = {},
                    Seconds warm_up = {}) {
    ResolvedDevice device{.kind = ResolvedDevice::Kind::emulated, .name = id};
    device.card.speed = speed;
    device.card.time = kTime;
    device.card.failures = std::move(failures);
    device.card.warm_up = warm_up;
    RunOptions options;
    options.build_id = "a build";
    return {.id = id, .worker = worker_options(device, options, speech_).value(), .speed = speed};
  }

  std::unique_ptr<DevicePool> pool(std::vector<PooledDevice> devices, Seconds patience = Seconds(600)) {
    return DevicePool::start({.devices = std::move(devices), .time = kTime, .patience = patience});
  }

  /// Opens, decodes and releases a window of that content.
  static Result<Decoded> transcribe(JobEngine& engine, WindowId window, float content) {
    const std::vector<float> mel(80 * kFrames, content);
    if (auto opened = engine.open({.window = window, .n_mels = 80, .frames = kFrames}, mel); !opened)
      return tl::unexpected(opened.error());
    auto decoded = engine.decode({.window = window, .request = 1});
    engine.release(window);
    return decoded;
  }

  /// What any GPU must say of a window of that content.
  std::vector<std::int32_t> text_of(float content) const {
    const std::vector<float> mel(80 * kFrames, content);
    const DecodeWindow defaults;
    return emulated_text(speech_, content_of(mel), kFrames, defaults.decoding.timestamps, defaults.max_tokens);
  }

  ScopedVariable program_{"TUTTI_EMULATOR", TUTTI_BINARY_DIR "/bin/tutti"};
  LogCapture log_;
  EmulatedSpeech speech_ = emulated_speech({}).value();
};

}  // namespace

TEST_F(DevicePoolTest, CancelledJobFreesWhatAWorkerHasInWork) {
  const auto slow = pool({card("slow", 0.5)});  // a window takes it a minute of its time, two seconds of ours
  ASSERT_TRUE(slow->ready());
  slow->add_job({.id = 1, .audio = Seconds(30)});
  const auto engine = slow->engine({.id = 1, .audio = Seconds(30)});
  auto answer = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 1); });
  while (slow->view().devices[0].windows == 0) std::this_thread::sleep_for(Seconds(0.001));
  std::this_thread::sleep_for(Seconds(0.1));
  engine->cancel();
  ASSERT_EQ(answer.wait_for(Seconds(1)), std::future_status::ready);
  EXPECT_EQ(answer.get().error().fault, Fault::cancelled);
  EXPECT_EQ(slow->view().devices[0].windows, 0);
  EXPECT_EQ(slow->view().devices[0].state, "healthy");
}

TEST_F(DevicePoolTest, WindowsOfOneJobSpreadOverItsDevicesAndSayWhatOneWouldSay) {
  const auto many = pool({card("a", 30), card("b", 30), card("c", 30)});
  const auto is_starting = [](const PooledDeviceView& device) { return device.state == "starting"; };
  while (std::ranges::any_of(many->view().devices, is_starting)) std::this_thread::sleep_for(Seconds(0.01));
  many->add_job({.id = 1, .audio = Seconds(300)});
  const auto engine = many->engine({.id = 1, .audio = Seconds(300)});
  std::vector<std::future<Result<Decoded>>> answers;
  for (WindowId window = 1; window <= 40; ++window)
    answers.push_back(std::async(
        std::launch::async, [&engine, window] { return transcribe(*engine, window, static_cast<float>(window)); }));
  for (WindowId window = 1; window <= 40; ++window) {
    const auto answer = answers[window - 1].get();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->tokens, text_of(static_cast<float>(window)));
  }
  for (const auto& device : many->view().devices) EXPECT_GT(device.audio_done, Seconds(0)) << device.id;
}

TEST_F(DevicePoolTest, LanguageDetectionCountsNoAudioDone) {
  const auto one = pool({card("a", 30)});
  ASSERT_TRUE(one->ready());
  one->add_job({.id = 1, .audio = Seconds(3)});
  const auto engine = one->engine({.id = 1, .audio = Seconds(3)});
  engine->correct_length(Seconds(0));
  const std::vector<float> mel(80 * kFrames, 0.5F);
  ASSERT_TRUE(engine->open({.window = 1, .n_mels = 80, .frames = kFrames}, mel));
  EXPECT_TRUE(engine->detect_language(1));
  engine->release(1);
  const auto device = one->view().devices[0];
  EXPECT_EQ(device.audio_done, Seconds(0));
  EXPECT_EQ(device.windows_done, 0);
  EXPECT_FALSE(device.error);
  EXPECT_EQ(engine->use().audio, Seconds(0));
  ASSERT_TRUE(transcribe(*engine, 2, 0.5F));
  EXPECT_GT(one->view().devices[0].audio_done, Seconds(0));
  EXPECT_EQ(one->view().devices[0].windows_done, 1);
}

TEST_F(DevicePoolTest, UnknownSpeedsAreMeasuredBeforeTheFirstWindow) {
  auto slow = card("slow", 10), fast = card("fast", 40);
  for (auto* device : {&slow, &fast}) {
    device->speed = 25;
    device->worker.model.time_a_window = true;
  }
  const auto two = pool({slow, fast});
  const auto is_starting = [](const PooledDeviceView& device) { return device.state == "starting"; };
  while (std::ranges::any_of(two->view().devices, is_starting)) std::this_thread::sleep_for(Seconds(0.01));
  const auto view = two->view();
  for (const auto& device : view.devices) EXPECT_TRUE(device.speed_known) << device.id;
  EXPECT_NEAR(view.devices[0].speed, 10, 1e-6);
  EXPECT_NEAR(view.devices[1].speed, 40, 1e-6);
  log_.wait_for("fast: 40 x real time in a short self-test");
}

TEST_F(DevicePoolTest, ACardThatDiesInItsTestIsLeftOutForGood) {
  std::vector<EmulatedFailure> deaths;
  for (int at = 2; at < 1000; at += 2) deaths.push_back({.kind = EmulatedFailure::Kind::die, .at = Seconds(at)});
  auto broken = card("broken", 0.5, deaths), healthy = card("healthy", 30);
  broken.tested = healthy.tested = true;
  const auto two = DevicePool::start(
      {.devices = {broken, healthy}, .time = kTime, .restarts = {.first_starts = 3, .first_wait = Seconds(1)}});
  ASSERT_TRUE(two->ready());
  log_.wait_for("GPU test PASSED: emulated has computed a window in ");
  log_.wait_for("broken: is left out for good: worker broken: could not be made ready in 3 starts in a row");
  EXPECT_EQ(two->view().devices[0].state, "failed");
  EXPECT_EQ(two->view().devices[1].state, "healthy");
}

TEST_F(DevicePoolTest, AWindowIsLeftToACardThatLoadsForAsLongAsItDidLastTime) {
  auto fast = card("fast", 100, {}, Seconds(100));
  fast.load_time = Seconds(1000);  // a slow machine has that much time for it
  const auto two = pool({card("slow", 0.01), fast});
  while (two->view().devices[0].state == "starting") std::this_thread::sleep_for(Seconds(0.01));
  two->add_job({.id = 1, .audio = Seconds(30)});
  const auto engine = two->engine({.id = 1, .audio = Seconds(30)});
  ASSERT_TRUE(transcribe(*engine, 1, 0.5F));
  EXPECT_EQ(engine->use().device, "fast");
}

TEST_F(DevicePoolTest, ViewShowsReservedMemoryAndWhetherSpeedIsGuessed) {
  auto guessed = card("guessed", 10);
  guessed.memory = Bytes{12'000'000'000};
  guessed.model_memory = Bytes{2'000'000'000};
  guessed.window_memory = Bytes{500'000'000};
  auto known = card("known", 10);
  known.speed_known = true;
  const auto two = pool({guessed, known});
  const auto is_starting = [](const PooledDeviceView& device) { return device.state == "starting"; };
  while (std::ranges::any_of(two->view().devices, is_starting)) std::this_thread::sleep_for(Seconds(0.01));
  EXPECT_FALSE(two->view().devices[0].speed_known);
  EXPECT_TRUE(two->view().devices[1].speed_known);
  EXPECT_EQ(two->view().devices[0].reserved, guessed.model_memory);
  ASSERT_TRUE(two->drain("known"));
  two->add_job({.id = 1});
  const auto engine = two->engine({.id = 1});
  const std::vector<float> mel(80 * kFrames, 0.5F);
  ASSERT_TRUE(engine->open({.window = 1, .n_mels = 80, .frames = kFrames}, mel));
  EXPECT_EQ(two->view().devices[0].reserved, Bytes{2'500'000'000});
  ASSERT_TRUE(engine->decode({.window = 1, .request = 1}));
  engine->release(1);
  EXPECT_TRUE(two->view().devices[0].speed_known) << "a window has been measured";
}

TEST_F(DevicePoolTest, AWindowOnADeviceThatDiesIsAnsweredByAnother) {
  const auto two = pool({card("dies", 2, {{EmulatedFailure::Kind::die, Seconds(40), {}}}), card("stays", 2)});
  two->add_job({.id = 1});
  const auto engine = two->engine({.id = 1});
  std::vector<std::future<Result<Decoded>>> answers;
  for (WindowId window = 1; window <= 16; ++window)
    answers.push_back(std::async(std::launch::async, [&engine, window] { return transcribe(*engine, window, 0.5F); }));
  for (auto& waiting : answers) {
    const auto answer = waiting.get();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->tokens, text_of(0.5F));
  }
  EXPECT_GE(log_.count("windows that go elsewhere: "), 1) << "it has died meanwhile";
}

TEST_F(DevicePoolTest, StallIsDetectedByDeclaredSpeedAndCountsAsFault) {
  PooledDevice stalls = card("stalls", 30, {{EmulatedFailure::Kind::stall, Seconds(100), {}}});
  stalls.speed_known = true;
  const auto one = pool({stalls});
  ASSERT_TRUE(one->ready());
  const Seconds loading = one->view().devices[0].idle[Idle::starting];
  while (one->view().elapsed < Seconds(110)) std::this_thread::sleep_for(Seconds(0.01));
  one->add_job({.id = 1, .audio = Seconds(30)});
  const auto engine = one->engine({.id = 1, .audio = Seconds(30)});
  const auto answer = transcribe(*engine, 1, 0.5F);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->tokens, text_of(0.5F));
  const std::string reported = log_.wait_for("no window has come back for ").text;
  const Seconds silent(std::atof(reported.c_str() + reported.find(" for ") + 5));
  EXPECT_LT(silent, Seconds(300)) << "a window should take it a second";
  const auto view = one->view().devices[0];
  EXPECT_GE(view.idle[Idle::fault], silent - Seconds(1));
  EXPECT_LT(view.busy, silent) << "the window that the next worker has done";
  EXPECT_EQ(view.idle[Idle::starting], loading) << "that worker starts because the first was lost";
}

TEST_F(DevicePoolTest, AWholeFileStaysWhereItBegan) {
  const auto two = pool({card("a", 30), card("b", 30)});
  ASSERT_TRUE(two->ready());
  two->add_job({.id = 1, .audio = Seconds(120), .whole = true});
  const auto engine = two->engine({.id = 1, .audio = Seconds(120), .whole = true});
  for (WindowId window = 1; window <= 4; ++window) ASSERT_TRUE(transcribe(*engine, window, 0.5F));
  EXPECT_FALSE(engine->where().empty());
  EXPECT_THAT(engine->where(), testing::Not(HasSubstr(",")));
  EXPECT_EQ(engine->use().audio, Seconds(120));
}

TEST_F(DevicePoolTest, ARecordingWithoutSpeechIsNoMoreAudioThanItsOwnLength) {
  const auto one = pool({card("a", 30)});
  ASSERT_TRUE(one->ready());
  one->add_job({.id = 1, .audio = Seconds(600)});
  const auto engine = one->engine({.id = 1, .audio = Seconds(600)});
  engine->correct_length(Seconds(5));  // decoded
  engine->correct_length(Seconds(0));  // no speech in it
  ASSERT_TRUE(transcribe(*engine, 1, 0.5F));
  EXPECT_EQ(engine->use().audio, Seconds(5));
}

TEST_F(DevicePoolTest, WindowsThatOverlapOrEndInPaddingAreNoMoreAudioThanTheFileHas) {
  const auto one = pool({card("a", 30)});
  ASSERT_TRUE(one->ready());
  one->add_job({.id = 1, .audio = Seconds(600), .whole = true});
  const auto engine = one->engine({.id = 1, .audio = Seconds(600), .whole = true});
  engine->correct_length(Seconds(45));
  for (WindowId window = 1; window <= 3; ++window) ASSERT_TRUE(transcribe(*engine, window, 0.5F));
  EXPECT_EQ(engine->use().audio, Seconds(45));
}

TEST_F(DevicePoolTest, WithoutDevicesForTooLongWaitersFailWithTheReason) {
  const auto one = pool({card("gone", 30, {{EmulatedFailure::Kind::lost, Seconds(0.001), {}}})}, Seconds(50));
  one->add_job({.id = 1});
  const auto engine = one->engine({.id = 1});
  const auto answer = transcribe(*engine, 1, 0.5F);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, Fault::device);
  EXPECT_THAT(answer.error().what, HasSubstr("gone: "));
  EXPECT_TRUE(one->over());
}

TEST_F(DevicePoolTest, StopReleasesWaitingCallers) {
  const auto slow = pool({card("slow", 0.01)});
  slow->add_job({.id = 1});
  const auto engine = slow->engine({.id = 1});
  auto waiting = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 0.5F); });
  ASSERT_TRUE(slow->ready());
  slow->stop(Seconds(0));
  EXPECT_EQ(waiting.get().error().fault, Fault::cancelled);
}

TEST_F(DevicePoolTest, AWindowThatWaitsOrComesLaterIsRefusedWhenItsJobEnds) {
  const auto one = pool({card("a", 30)});
  ASSERT_TRUE(one->ready());
  ASSERT_TRUE(one->drain("a"));
  one->add_job({.id = 1});
  const auto engine = one->engine({.id = 1});
  auto waiting = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 0.5F); });
  one->end_job(1);
  EXPECT_EQ(waiting.get().error().fault, Fault::cancelled);
  EXPECT_EQ(transcribe(*engine, 2, 0.5F).error().fault, Fault::cancelled);
}

TEST_F(DevicePoolTest, AWindowOfAnEndedJobIsRefusedWhenItsDeviceIsLost) {
  const auto one = pool({card("slow", 0.01)});
  one->add_job({.id = 1});
  const auto engine = one->engine({.id = 1});
  auto working = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 0.5F); });
  while (engine->where().empty()) std::this_thread::yield();
  one->end_job(1);
  one->report_driver_state("slow", kLost);
  EXPECT_EQ(working.get().error().fault, Fault::cancelled);
}

TEST_F(DevicePoolTest, AWholeFileThatIsCancelledOpensNoMoreWindows) {
  const auto one = pool({card("a", 30)});
  one->add_job({.id = 1, .audio = Seconds(120), .whole = true});
  const auto engine = one->engine({.id = 1, .audio = Seconds(120), .whole = true});
  ASSERT_TRUE(transcribe(*engine, 1, 0.5F));
  one->end_job(1);
  EXPECT_EQ(transcribe(*engine, 2, 0.5F).error().fault, Fault::cancelled);
}

TEST_F(DevicePoolTest, ClosedEngineRefusesWaitingAndNewRequests) {
  const auto one = pool({card("a", 30)});
  ASSERT_TRUE(one->ready());
  one->add_job({.id = 1, .audio = Seconds(120), .whole = true});
  auto engine = one->engine({.id = 1, .audio = Seconds(120), .whole = true});
  ASSERT_TRUE(transcribe(*engine, 1, 0.5F));
  engine->cancel();
  EXPECT_EQ(transcribe(*engine, 2, 0.5F).error().fault, Fault::cancelled);
  engine.reset();
  ASSERT_TRUE(one->drain("a"));
  engine = one->engine({.id = 1, .audio = Seconds(120)});
  auto waiting = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 0.5F); });
  engine->cancel();
  EXPECT_EQ(waiting.get().error().fault, Fault::cancelled);
  engine.reset();
  ASSERT_TRUE(one->resume("a"));
  engine = one->engine({.id = 1, .audio = Seconds(120)});
  EXPECT_TRUE(transcribe(*engine, 1, 0.5F)) << "the job itself goes on";
}

TEST_F(DevicePoolTest, ADrainedDeviceGetsNothingUntilItIsResumed) {
  const auto two = pool({card("a", 30), card("b", 30)});
  ASSERT_TRUE(two->ready());
  EXPECT_FALSE(two->drain("c"));
  ASSERT_TRUE(two->drain("a"));
  two->add_job({.id = 1});
  const auto engine = two->engine({.id = 1});
  for (WindowId window = 1; window <= 3; ++window) ASSERT_TRUE(transcribe(*engine, window, 0.5F));
  EXPECT_EQ(engine->use().device, "b");
  ASSERT_TRUE(two->drain("b"));
  ASSERT_TRUE(two->resume("a"));
  ASSERT_TRUE(transcribe(*engine, 4, 0.5F));
}

TEST_F(DevicePoolTest, DeviceLostByDriverIsUnusedUntilItReturns) {
  const auto two = pool({card("a", 30), card("b", 30)});
  ASSERT_TRUE(two->ready());
  two->report_driver_state("a", kLost);
  two->add_job({.id = 1});
  const auto engine = two->engine({.id = 1});
  for (WindowId window = 1; window <= 3; ++window) ASSERT_TRUE(transcribe(*engine, window, 0.5F));
  EXPECT_EQ(engine->use().device, "b");
  EXPECT_EQ(two->view().devices[0].state, "lost");
  two->report_driver_state("a", {});
  two->report_driver_state("b", kLost);
  ASSERT_TRUE(transcribe(*engine, 4, 0.5F)) << "a canary lets it back in";
}

TEST_F(DevicePoolTest, DeviceInNeedOfRepairIsQuarantinedUntilResumed) {
  const auto two = pool({card("a", 30), card("b", 30)});
  ASSERT_TRUE(two->ready());
  const DeviceFault xid{.what = "Xid 48"};
  two->report_driver_state("a", xid);
  two->add_job({.id = 1});
  const auto engine = two->engine({.id = 1});
  ASSERT_TRUE(transcribe(*engine, 1, 0.5F));
  EXPECT_EQ(engine->use().device, "b");
  EXPECT_EQ(two->view().devices[0].state, "quarantined");
  EXPECT_EQ(two->view().devices[0].reason, "Xid 48");
  ASSERT_TRUE(two->resume("a"));
  two->report_driver_state("a", xid);  // it does not forget
  two->report_driver_state("b", kLost);
  ASSERT_TRUE(transcribe(*engine, 2, 0.5F)) << "a canary lets it back in";
  two->report_driver_state("a", DeviceFault{.what = "Xid 48 (2 times)"});
  EXPECT_EQ(two->view().devices[0].state, "quarantined") << "that is news";
}

TEST_F(DevicePoolTest, RepairReportDuringWorkerStartQuarantines) {
  const auto one = pool({card("a", 30, {}, Seconds(1000))});
  one->report_driver_state("a", DeviceFault{.what = "Xid 48"});
  for (int looks = 0; one->view().devices[0].restarts == 0 && looks < 1000; ++looks)  // unless none was started yet
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(one->view().devices[0].state, "quarantined");
  EXPECT_EQ(one->view().devices[0].reason, "Xid 48");
}

TEST_F(DevicePoolTest, NewWorkerDoesNotEndAQuarantineReportedMeanwhile) {
  // At which point of a worker's start the driver's report arrives is chance: hence many pools, each a little later.
  std::vector<std::unique_ptr<DevicePool>> pools;
  for (int each = 0; each < 80; ++each) {
    pools.push_back(pool({card("a", 30)}));
    const auto then = std::chrono::steady_clock::now() + std::chrono::microseconds(3 * each);
    while (std::chrono::steady_clock::now() < then) {
    }
    pools.back()->report_driver_state("a", DeviceFault{.what = "Xid 48"});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a worker that should not be is ready by then
  for (const auto& one : pools) EXPECT_EQ(one->view().devices[0].state, "quarantined");
}

TEST_F(DevicePoolTest, FinishedAttemptFreesTheJobLimitForOthers) {
  const auto one = DevicePool::start({.devices = {card("a", 30)}, .jobs_at_once = 1, .time = kTime});
  ASSERT_TRUE(one->ready());
  one->add_job({.id = 1});
  one->add_job({.id = 2});
  ASSERT_TRUE(transcribe(*one->engine({.id = 1}), 1, 0.5F));  // and its job waits for another attempt
  const auto second = one->engine({.id = 2});
  auto answer = std::async(std::launch::async, [&] { return transcribe(*second, 2, 0.5F).has_value(); });
  const bool came = answer.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  if (!came) one->stop(Seconds(0));
  EXPECT_TRUE(came && answer.get());
}

TEST_F(DevicePoolTest, DeviceResumedBetweenWorkersTakesWaitingWork) {
  const auto one = pool({card("a", 30, {{EmulatedFailure::Kind::die, Seconds(100), {}}})});
  ASSERT_TRUE(one->ready());
  ASSERT_TRUE(one->drain("a"));
  one->add_job({.id = 1});
  const auto engine = one->engine({.id = 1});
  auto answer = std::async(std::launch::async, [&] { return transcribe(*engine, 1, 0.5F).has_value(); });
  for (int looks = 0; one->view().devices[0].restarts == 0 && looks < 20'000; ++looks)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(one->view().devices[0].restarts, 1);
  ASSERT_TRUE(one->resume("a"));
  const bool came = answer.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  if (!came) one->stop(Seconds(0));
  EXPECT_TRUE(came && answer.get());
}

TEST_F(DevicePoolTest, FirstGrantsAreReportedInOrderWithTheirState) {
  auto capped = card("a", 10);
  capped.job_cap = 3;
  const auto one = pool({capped});
  ASSERT_TRUE(one->ready());
  std::vector<std::unique_ptr<JobEngine>> engines;
  std::atomic<int> reported = 0;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    one->add_job({.id = id, .audio = Seconds(30)});
    engines.push_back(one->engine({.id = id, .audio = Seconds(30)}));
    engines.back()->when_granted([&] { ++reported; });
  }
  EXPECT_TRUE(one->first_grants().empty()) << "none has a window yet";
  std::vector<std::future<Result<Decoded>>> answers;
  for (std::size_t i = 0; i < engines.size(); ++i)
    answers.push_back(std::async(std::launch::async, [&engine = *engines[i], window = 2 * i + 1] {
      const auto first = transcribe(engine, window, 0.5F);
      return first ? transcribe(engine, window + 1, 0.5F) : first;
    }));
  for (auto& answer : answers) {
    const auto decoded = answer.get();
    ASSERT_TRUE(decoded) << decoded.error().text();
  }
  EXPECT_EQ(reported, 3) << "once for each task";
  const auto grants = one->first_grants();
  ASSERT_EQ(grants.size(), 3U);
  for (std::size_t i = 0; i < grants.size(); ++i) {
    EXPECT_EQ(grants[i].device, "a");
    EXPECT_EQ(grants[i].before.next_device, "a");
    EXPECT_LE(grants[i].before.devices.at(0).jobs, static_cast<int>(i)) << "itself not counted";
  }
  EXPECT_EQ(grants[0].before.devices.at(0).windows, 0);
  EXPECT_TRUE(one->first_grants().empty()) << "reported already";
}

TEST_F(DevicePoolTest, OutOfMemoryIsLoggedAndNewsAndMoreIsTriedAgain) {
  auto full = card("full", 30, {{EmulatedFailure::Kind::exhaust, Seconds(40), {}}});  // 1.2 s here: windows are in work
  full.enough = 8;
  std::unique_ptr<DevicePool> one;
  std::unique_ptr<JobEngine> engine;
  const std::vector<float> mel(80 * kFrames, 0.5F);
  std::atomic<int> opened{0};
  // Each holds its window until all have one: several are in work on a busy machine, too.
  const auto hold = [&](WindowId window) {
    EXPECT_TRUE(engine->open({.window = window, .n_mels = 80, .frames = kFrames}, mel));
    ++opened;
    for (int looks = 0; looks < 100 && opened < 8 && !one->view().devices[0].memory_loss; ++looks)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(engine->decode({.window = window, .request = 1}));
    engine->release(window);
  };
  const auto work = [&](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      opened = 0;
      std::vector<std::future<void>> threads;
      for (WindowId window = 1; window <= 8; ++window) threads.push_back(std::async(std::launch::async, hold, window));
      for (auto& thread : threads) thread.get();
    }
  };
  // The worker's memory runs out once. Where a single window is in work then, nothing is learned.
  for (int tries = 0; tries < 10 && !(one && one->view().devices[0].memory_loss); ++tries) {
    engine.reset();
    one = pool({full});
    ASSERT_TRUE(one->ready());
    one->add_job({.id = 1, .audio = Seconds(30000)});
    engine = one->engine({.id = 1, .audio = Seconds(30000)});
    for (int round = 0; round < 50 && !one->view().devices[0].memory_loss; ++round) work(2);
  }
  ASSERT_TRUE(one->view().devices[0].memory_loss);
  const std::string line = log_.wait_for("full: out of memory with ").text;
  EXPECT_THAT(line, HasSubstr(" from now on, and one more when "));
  for (int tries = 0; one->view().devices[0].memory_loss->now && tries < 100; ++tries) work(4);
  const auto loss = one->view().devices[0].memory_loss;
  EXPECT_FALSE(loss->now) << "all of its places are used again";
  EXPECT_EQ(loss->times, 1);
  log_.wait_for("full: all 10 windows at once are tried again");
  std::vector<std::string> kinds;
  for (const PoolEvent& event : one->news()) kinds.push_back(event.state);
  EXPECT_THAT(kinds, testing::IsSupersetOf({"out_of_memory", "memory_again"}));
}
