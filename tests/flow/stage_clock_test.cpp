#include "flow/stage_clock.h"

#include <gtest/gtest.h>

#include <atomic>

#include "flow/pipeline.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

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

TEST(StageClock, AWaitForInputIsStarvedWorkIsBusyAndAWaitForRoomIsBlocked) {
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

TEST(StageClock, ASourceIsBusyInItsGeneratorAndBlockedWithoutRoom) {
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
