#include "flow/stage_clock.h"

#include <gtest/gtest.h>

#include <atomic>

#include "flow/pipeline.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "support/seeds.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A stage function that the test holds in its hands: each call waits for one `release`.
class Gate {
 public:
  void pass() {
    const int mine = arrived_.fetch_add(1);
    for (int seen = released_.load(); seen <= mine; seen = released_.load()) released_.wait(seen);
  }
  void release(int calls = 1) {
    released_.fetch_add(calls);
    released_.notify_all();
  }
  int arrived() const { return arrived_; }

 private:
  std::atomic<int> arrived_ = 0;
  std::atomic<int> released_ = 0;
};

StageReport stage(const Pipeline& pipeline, std::size_t index) {
  return pipeline.report().stages[index];
}

TEST(StageClock, WaitsCountAsStarvedOrBlockedAndWorkAsBusy) {
  FakeClock clock;
  Gate gate;
  Pipeline pipeline({.clock = &clock});
  auto [writer, reader] = make_channel<int>({.items = 4});
  auto out = pipeline.map("work", std::move(reader),
                          [&](int&& n) -> Result<int> {
                            gate.pass();
                            return n;
                          },
                          {.output = {.items = 1}});
  pipeline.start();
  eventually([&] { return stage(pipeline, 0).threads.starved == 1; });
  clock.advance(3s);
  ASSERT_TRUE(writer.push(1));
  ASSERT_TRUE(writer.push(2));
  eventually([&] { return gate.arrived() == 1; });
  EXPECT_EQ(stage(pipeline, 0).threads.busy, 1);
  clock.advance(5s);
  gate.release();
  eventually([&] { return gate.arrived() == 2; });
  clock.advance(7s);
  gate.release();
  eventually([&] { return stage(pipeline, 0).output.writers == 1; });
  clock.advance(11s);

  const StageReport now = stage(pipeline, 0);
  EXPECT_EQ(now.times.starved, 3s);
  EXPECT_EQ(now.times.busy, 12s);
  EXPECT_EQ(now.times.blocked, 11s);
  EXPECT_EQ(now.times.lived(), pipeline.report().elapsed);
  EXPECT_EQ(now.threads.blocked, 1);
  EXPECT_EQ(now.output.items, 1u);
}

/// What a stage's clocks must say, kept by the simplest of means.
struct Ledger {
  explicit Ledger(const Clock& clock) : clocks(clock) {}

  void advance(FakeClock& clock, std::chrono::nanoseconds by) {
    clock.advance(by);
    for (const auto& [thread, activity] : present) {
      expected.of(activity) += by;
      lived += by;
    }
  }

  StageClocks clocks;
  std::vector<std::pair<std::shared_ptr<ThreadClock>, Activity>> present{};
  StageTimes expected{};
  std::chrono::nanoseconds lived{};
};

TEST(StageClock, ThreadTimesAddUpToTheirLifetimes) {
  for (const auto seed : seeds(40)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    FakeClock clock;
    Ledger ledger(clock);
    for (int step = 0; step < 500; ++step) {
      const auto activity = static_cast<Activity>(dice.between(0, 2));
      const int choice = dice.between(0, 9);
      const int last = static_cast<int>(ledger.present.size()) - 1;
      if (choice == 0 || last < 0) {
        ledger.present.emplace_back(ledger.clocks.enter(activity), activity);
      } else if (choice == 1) {
        const auto leaver = ledger.present.begin() + dice.between(0, last);
        ledger.clocks.leave(leaver->first);
        ledger.present.erase(leaver);
      } else if (choice < 6) {
        auto& [thread, now] = ledger.present[static_cast<std::size_t>(dice.between(0, last))];
        thread->turn(now = activity);
      } else {
        ledger.advance(clock, std::chrono::nanoseconds(dice.between(0, 1'000'000)));
      }
      const StageTimes times = ledger.clocks.times();
      ASSERT_EQ(times.busy, ledger.expected.busy);
      ASSERT_EQ(times.starved, ledger.expected.starved);
      ASSERT_EQ(times.blocked, ledger.expected.blocked);
      ASSERT_EQ(times.lived(), ledger.lived);
      ASSERT_EQ(ledger.clocks.threads().all(), static_cast<int>(ledger.present.size()));
    }
  }
}

TEST(StageClock, TimesStandStillAfterTheEnd) {
  FakeClock clock;
  Pipeline pipeline({.clock = &clock});
  auto [writer, reader] = make_channel<int>({.items = 4});
  pipeline.sink("work", std::move(reader), [&](int&& seconds) -> Result<void> {
    clock.advance(std::chrono::seconds(seconds));
    return {};
  });
  pipeline.start();
  for (int seconds : {5, 7}) ASSERT_TRUE(writer.push(int{seconds}));
  writer = {};
  EXPECT_TRUE(pipeline.join());
  clock.advance(100s);
  EXPECT_EQ(stage(pipeline, 0).times.lived(), 12s) << "a thread that has left ages no more";
  EXPECT_EQ(pipeline.report().elapsed, 12s);
  EXPECT_EQ(stage(pipeline, 0).times.busy, 12s);
  EXPECT_EQ(stage(pipeline, 0).service.count, 2u);
  EXPECT_NEAR(stage(pipeline, 0).service.max, 7, 1e-9);
}

TEST(StageClock, TheTimeOfThreadsThatWereSentAwayIsKept) {
  FakeClock clock;
  Pipeline pipeline({.clock = &clock});
  auto [writer, reader] = make_channel<int>({.items = 4});
  pipeline.sink("drop", std::move(reader), [](int&&) -> Result<void> { return {}; }, {.threads = 3});
  pipeline.start();
  const auto starved = [&](int threads) {
    return [&, threads] { return stage(pipeline, 0).threads.starved == threads; };
  };
  eventually(starved(3));
  clock.advance(10s);
  ASSERT_TRUE(pipeline.set_threads("drop", 1));
  eventually(starved(1));
  EXPECT_EQ(stage(pipeline, 0).times.starved, 30s);
  clock.advance(5s);
  EXPECT_EQ(stage(pipeline, 0).times.starved, 35s);
  ASSERT_TRUE(pipeline.set_threads("drop", 2));
  eventually(starved(2));
  clock.advance(1s);
  EXPECT_EQ(stage(pipeline, 0).times.lived(), 37s);
  writer = {};
  EXPECT_TRUE(pipeline.join());
  EXPECT_EQ(stage(pipeline, 0).threads.all(), 0);
  EXPECT_EQ(stage(pipeline, 0).times.lived(), 37s);
}

TEST(StageClock, WaitingForATurnInAnOrderedOutputIsBlocked) {
  FakeClock clock;
  Gate first;
  Pipeline pipeline({.clock = &clock});
  auto [writer, reader] = make_channel<int>({.items = 8});
  auto out = pipeline.map("order", std::move(reader),
                          [&](int&& n) -> Result<int> {
                            if (n == 0) first.pass();
                            return n;
                          },
                          {.threads = 2, .order = Order::input, .window = 2});
  pipeline.start();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.push(int{i}));
  // Item 0 is held; 1 finishes and waits for its turn in the window; 2 is one too far ahead and so its thread waits.
  eventually([&] { return first.arrived() == 1 && stage(pipeline, 0).service.count == 2; });
  eventually([&] { return stage(pipeline, 0).threads.blocked == 1; });
  EXPECT_EQ(stage(pipeline, 0).items_in, 3u);
  clock.advance(4s);
  EXPECT_EQ(stage(pipeline, 0).times.blocked, 4s);
  EXPECT_EQ(stage(pipeline, 0).times.busy, 4s);
  first.release();
  writer = {};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(out.pop(), i);
  EXPECT_TRUE(pipeline.join());
}

TEST(StageClock, SourceIsBusyInGeneratorAndBlockedOnFullOutput) {
  FakeClock clock;
  Gate gate;
  Pipeline pipeline({.clock = &clock});
  auto out = pipeline.source("read",
                             [&, left = 2]() mutable -> std::optional<Result<int>> {
                               gate.pass();
                               if (left == 0) return std::nullopt;
                               return left--;
                             },
                             {.output = {.items = 1}});
  pipeline.start();
  eventually([&] { return gate.arrived() == 1; });
  clock.advance(2s);
  gate.release(2);
  eventually([&] { return stage(pipeline, 0).output.writers == 1; });
  clock.advance(3s);
  EXPECT_EQ(stage(pipeline, 0).times.busy, 2s);
  EXPECT_EQ(stage(pipeline, 0).times.blocked, 3s);
  gate.release();
  EXPECT_EQ(out.pop(), 2);
  EXPECT_EQ(out.pop(), 1);
  EXPECT_EQ(out.pop(), std::nullopt);
  EXPECT_TRUE(pipeline.join());
}

}  // namespace
}  // namespace tutti
