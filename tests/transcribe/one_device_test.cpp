// What a run on one device does when its workers fail: with a scripted worker, and with the decisions alone.
#include "transcribe/pool/one_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "balance/dispatcher.h"
#include "support/least_of.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"
#include "transcribe/pool/pooled_recording.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr const char* kScriptedWorker = TUTTI_BINARY_DIR "/bin/scripted_worker";
constexpr const char* kStartedAgain = "starting it again";

std::unique_ptr<DevicePool> start(std::vector<std::string> script) {
  script.insert(script.begin(), kScriptedWorker);
  return DevicePool::start(
      plan_of_one({.id = "cpu",
                   .worker = {.name = "worker cpu", .command = {.words = std::move(script)}, .build_id = "scripted"}}));
}

Result<Opened> open(WindowEngine& engine, WindowId window) {
  return engine.open({.window = window, .n_mels = 80, .frames = 4},
                     std::vector<float>(80 * 4, static_cast<float>(window)));
}

DecodeWindow request(WindowId window) {
  return {.window = window, .request = 1000 + window, .prompt = {50257, 50362}, .temperature = 0.5F};
}

// What the scripted worker makes of `request`, whichever process of it answers.
void expect_right(const Result<Decoded>& decoded, WindowId window) {
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->request, 1000 + window);
  EXPECT_THAT(decoded->tokens, ElementsAre(50257, 50362, static_cast<int>(window)));
  EXPECT_EQ(decoded->sum_logprob, 320.0 * static_cast<double>(window));
}

void transcribe(WindowEngine& engine, WindowId window) {
  ASSERT_TRUE(open(engine, window));
  expect_right(engine.decode(request(window)), window);
  engine.release(window);
}

/// Each on a thread of its own, as a file of its own.
void transcribe_as_files(DevicePool& pool, WindowId files, WindowId windows) {
  std::vector<std::jthread> callers;
  for (WindowId file = 1; file <= files; ++file)
    callers.emplace_back([&, file] {
      PooledRecording recording(pool, {.id = file});
      for (WindowId window = 0; window < windows; ++window) transcribe(recording.engine(), file * 100 + window);
    });
}

std::int64_t restarts_of(DevicePool& pool) {
  return pool.view().devices.front().restarts;
}

class OneDeviceTest : public testing::Test {
 protected:
  std::string once() const { return "once=" + (folder_ / "once").string(); }
  TempFolder folder_;
  LogCapture log_;
};
using OneDeviceTimed = OneDeviceTest;

}  // namespace

TEST_F(OneDeviceTest, RepeatedCrashesStayInvisibleToEightCallers) {
  const auto pool = start({"then=crash", "after=20"});
  transcribe_as_files(*pool, 8, 10);
  EXPECT_GE(restarts_of(*pool), 3);
}

TEST_F(OneDeviceTest, WorkersThatAnswerOnceEachGetEverythingDone) {
  const auto pool = start({"then=crash", "after=1"});
  transcribe_as_files(*pool, 4, 3);
  EXPECT_EQ(restarts_of(*pool), 11);
}

TEST_F(OneDeviceTest, AWorkerKilledInMidRequestCostsNothingButTime) {
  const auto pool = start({"then=stall", once()});
  PooledRecording recording(*pool, {.id = 1});
  Result<Decoded> decoded;
  std::jthread caller([&] {
    ASSERT_TRUE(open(recording.engine(), 7));
    decoded = recording.engine().decode(request(7));
  });
  ASSERT_EQ(::kill(log_.number_after("stall of process"), SIGKILL), 0);
  caller.join();
  expect_right(decoded, 7);
  EXPECT_EQ(restarts_of(*pool), 1);
  EXPECT_THAT(log_.wait_for(kStartedAgain).text, HasSubstr("was killed by signal 9"));
}

TEST_F(OneDeviceTimed, HungWorkerIsDetectedInASecondAndWindowRedone) {
  constexpr Seconds kLimit{1.5};  // a second by design
  const auto until_noticed = [] {
    const TempFolder folder;
    LogCapture log;
    const auto pool = start({"then=hang", "after=1", "once=" + (folder / "once").string()});
    PooledRecording recording(*pool, {.id = 1});
    transcribe(recording.engine(), 1);
    transcribe(recording.engine(), 2);
    return Seconds(log.wait_for("has hung").at - log.wait_for("hang of process").at);
  };
  EXPECT_LT(least_of_three(kLimit, until_noticed), kLimit);
}

TEST_F(OneDeviceTest, GarbledMessageReplacesTheWorkerAndRedoesItsWindow) {
  const auto pool = start({"then=garble", "after=1", once()});
  PooledRecording recording(*pool, {.id = 1});
  transcribe(recording.engine(), 1);
  transcribe(recording.engine(), 2);
  EXPECT_THAT(log_.wait_for(kStartedAgain).text, HasSubstr("message of protocol 15"));
  EXPECT_EQ(restarts_of(*pool), 1);
}

TEST_F(OneDeviceTest, UnrequestedAnswerRestartsTheWorker) {
  const auto pool = start({"then=repeat", once()});
  PooledRecording recording(*pool, {.id = 1});
  transcribe(recording.engine(), 1);
  EXPECT_THAT(log_.wait_for(kStartedAgain).text, HasSubstr("which did not request it"));
  transcribe(recording.engine(), 2);
}

TEST_F(OneDeviceTest, AWindowThatKillsTwoWorkersFailsAloneWithItsEvidence) {
  const auto pool = start({"poison=5"});
  Result<Decoded> decoded;
  std::jthread poisoned([&] {
    PooledRecording recording(*pool, {.id = 5});
    ASSERT_TRUE(open(recording.engine(), 5));
    decoded = recording.engine().decode(request(5));
    recording.engine().release(5);
  });
  transcribe_as_files(*pool, 4, 10);
  poisoned.join();
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().fault, Fault::device);
  EXPECT_THAT(decoded.error().what, HasSubstr(" workers were lost with it, the last with nothing beside it"));
  EXPECT_THAT(decoded.error().what, HasSubstr("signal 6"));
  EXPECT_THAT(restarts_of(*pool), testing::AllOf(testing::Ge(2), testing::Le(4)));
  transcribe_as_files(*pool, 1, 1);
}

TEST_F(OneDeviceTest, WorkerNeverReadyFailsAfterThreeStartsWithItsLastOutput) {
  const auto pool = start({"load=exit"});
  const auto ready = pool->ready();
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().what, HasSubstr("worker cpu: could not be made ready in 3 starts in a row"));
  EXPECT_THAT(ready.error().what, HasSubstr("exited with status 7"));
  EXPECT_THAT(ready.error().what, HasSubstr("the last words"));
  PooledRecording recording(*pool, {.id = 1});
  EXPECT_EQ(open(recording.engine(), 1).error().what, ready.error().what);
}

TEST_F(OneDeviceTest, WhatNoOtherStartCanMendIsNotLogged) {
  const auto pool = start({"load=missing"});
  EXPECT_FALSE(pool->ready());
  EXPECT_EQ(pool->view().devices.front().gone, Fault::missing);
  EXPECT_EQ(log_.count("no such model"), 0) << "the command reports it";
}

namespace {

// Eight files of a window each on a device whose worker answers in any order, dies of file `poison` and, `bad_luck`
// times in a thousand steps, of nothing at all. Returns the files that failed; an endless story is cut and fails the
// test.
class Story {
 public:
  Story(unsigned seed, JobKey poison, unsigned bad_luck) : seed_(seed), poison_(poison), bad_luck_(bad_luck) {
    dispatcher_.add_device({.id = "cpu", .slots = kFiles}, Seconds(0));
    for (JobKey file = 1; file <= kFiles; ++file) {
      dispatcher_.add_job(file, {.audio = Seconds(30)}, Seconds(0));
      dispatcher_.offer(file, Seconds(30), 1, Seconds(0));
    }
  }

  std::set<JobKey> failed() {
    for (int step = 0; done_.size() + failed_.size() < kFiles; ++step) {
      if (step == 10000) ADD_FAILURE() << "seed " << seed_ << ": no end";
      if (step == 10000) break;
      now_ += Seconds(0.1);
      while (const auto grant = dispatcher_.next(now_)) in_flight_[grant->id] = *grant;
      if (in_flight_.empty()) continue;
      auto at = in_flight_.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random_() % in_flight_.size()));
      const bool is_poison = !at->second.canary && at->second.job == poison_;
      if (is_poison || random_() % 1000 < bad_luck_)
        lose();
      else
        finish(at->first);
    }
    return failed_;
  }

 private:
  static constexpr int kFiles = 8;

  void finish(GrantId id) {
    const Grant grant = in_flight_.extract(id).mapped();
    dispatcher_.finished(id, now_);
    if (!grant.canary && done_.insert(grant.job).second) dispatcher_.end_job(grant.job, now_);
  }

  void lose() {
    for (const auto& [id, grant] : std::exchange(in_flight_, {})) {
      const auto decision = dispatcher_.failed(id, Blame::device, "it died", now_);
      if (grant.canary || decision.next == FailureDecision::Next::retry) continue;
      failed_.insert(grant.job);
      dispatcher_.end_job(grant.job, now_);
    }
    dispatcher_.device_event(0, HealthEvent::restarting, "it died", now_);
    dispatcher_.device_event(0, HealthEvent::ready, "", now_);
  }

  const unsigned seed_;
  const JobKey poison_;
  const unsigned bad_luck_;
  std::mt19937 random_{seed_};
  Dispatcher dispatcher_{{.fresh_worker_decides = true, .breaker = plan_of_one({}).breaker}};
  Seconds now_{};
  std::map<GrantId, Grant> in_flight_{};
  std::set<JobKey> failed_{}, done_{};
};

}  // namespace

TEST(OneDevice, OnlyThePoisonedFileFailsInAnyOrderOfEvents) {
  for (unsigned seed = 0; seed < 300; ++seed)
    EXPECT_THAT(Story(seed, 5, 0).failed(), ElementsAre(5)) << "seed " << seed;
}

TEST(OneDevice, WithoutPoisonOrLossesNothingFails) {
  EXPECT_THAT(Story(1, 0, 0).failed(), IsEmpty());
}

TEST(OneDevice, EveryFileEndsDespiteRepeatedLosses) {
  for (unsigned seed = 0; seed < 300; ++seed) EXPECT_LT(Story(seed, 0, 30).failed().size(), 4U) << "seed " << seed;
}
