#include "flow/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "support/eventually.h"

namespace tutti {
namespace {

auto numbers(int count) {
  return [next = 0, count]() mutable -> std::optional<Result<int>> {
    if (next == count) return std::nullopt;
    return next++;
  };
}

auto collect(std::vector<int>& into) {
  return [&into](int&& item) -> Result<void> {
    into.push_back(item);
    return {};
  };
}

TEST(Pipeline, AnOrderedStageOfSeveralThreadsKeepsTheOrderOfItsInput) {
  Pipeline pipeline;
  std::vector<int> got;
  auto source = pipeline.source("count", numbers(2000));
  auto doubled = pipeline.map("double", std::move(source), [](int&& n) -> Result<int> { return 2 * n; },
                              {.threads = 4, .order = Order::input, .window = 3, .output = {.items = 5}});
  pipeline.sink("collect", std::move(doubled), collect(got));
  ASSERT_TRUE(pipeline.run());
  ASSERT_EQ(got.size(), 2000u);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], 2 * i);
}

TEST(Pipeline, SlowItemDelaysNoOtherInCompletionOrder) {
  Pipeline pipeline;
  std::atomic<bool> is_released = false;
  auto source = pipeline.source("count", numbers(10));
  auto out = pipeline.map("hold the first", std::move(source),
                          [&](int&& n) -> Result<int> {
                            if (n == 0) is_released.wait(false);
                            return n;
                          },
                          {.threads = 2});
  pipeline.start();
  for (int i = 1; i < 10; ++i) EXPECT_EQ(out.pop(), i);
  is_released = true;
  is_released.notify_all();
  EXPECT_EQ(out.pop(), 0);
  EXPECT_EQ(out.pop(), std::nullopt);
  EXPECT_TRUE(pipeline.join());
}

TEST(Pipeline, ASkippedItemIsReportedAndTheRestComesThrough) {
  std::vector<std::string> seen;
  Pipeline pipeline({.on_skip = [&](const StageError& e) { seen.push_back(e.stage + ": " + e.error.what); }});
  std::vector<int> got;
  auto source = pipeline.source("count", numbers(6));
  auto even = pipeline.map("even only", std::move(source),
                           [](int&& n) -> Result<int> {
                             if (n % 2) return fail(Fault::corrupt, std::to_string(n) + " is odd");
                             return n;
                           },
                           {.threads = 2, .on_error = OnError::skip, .order = Order::input});
  pipeline.sink("collect", std::move(even), collect(got));
  ASSERT_TRUE(pipeline.run());
  EXPECT_EQ(got, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(pipeline.report().stages[1].failed, 3u);
  EXPECT_EQ(pipeline.report().stages[1].items_in, 6u);
  EXPECT_EQ(pipeline.report().stages[1].items_out, 3u);
}

TEST(Pipeline, TheFirstErrorStopsAnEndlessPipelineAndIsYielded) {
  Pipeline pipeline;
  auto endless = pipeline.source("endless", []() -> std::optional<Result<int>> { return 1; });
  std::atomic<int> calls = 0;
  pipeline.sink("break", std::move(endless), [&](int&&) -> Result<void> {
    if (++calls == 100) return fail(Fault::device, "the hundredth broke");
    return {};
  });
  const auto result = pipeline.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::device);
  EXPECT_EQ(result.error().what, "the hundredth broke");
}

TEST(Pipeline, AnExceptionBecomesAnInternalErrorThatNamesTheStage) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(3));
  auto out = pipeline.map("explode", std::move(source), [](int&&) -> Result<int> { throw std::runtime_error("boom"); });
  pipeline.sink("drop", std::move(out), [](int&&) -> Result<void> { return {}; });
  const auto result = pipeline.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::internal);
  EXPECT_EQ(result.error().what, "stage 'explode' threw an exception: boom");
}

TEST(Pipeline, ASizeFunctionThatThrowsEndsAnOrderedPipelineToo) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(100));
  auto out = pipeline.map(
      "weigh", std::move(source), [](int&& n) -> Result<int> { return n; },
      {.threads = 4, .order = Order::input, .window = 2},
      [](const int& n) -> std::size_t { return n == 50 ? throw std::runtime_error("no scale") : 1; });
  pipeline.sink("drop", std::move(out), [](int&&) -> Result<void> { return {}; });
  const auto result = pipeline.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "stage 'weigh' threw an exception: no scale");
}

TEST(Pipeline, ClosingTheLastOutputEndsEveryStage) {
  Pipeline pipeline;
  auto endless = pipeline.source("endless", []() -> std::optional<Result<int>> { return 1; });
  auto out = pipeline.map("pass", std::move(endless), [](int&& n) -> Result<int> { return n; },
                          {.threads = 3, .order = Order::input});
  pipeline.start();
  EXPECT_EQ(out.pop(), 1);
  out = {};
  EXPECT_TRUE(pipeline.join());
}

TEST(Pipeline, StopEndsStagesThatWaitForAnInputFromOutside) {
  Pipeline pipeline;
  auto [writer, reader] = make_channel<int>({.items = 2});
  pipeline.sink("wait", std::move(reader), [](int&&) -> Result<void> { return {}; }, {.threads = 2});
  pipeline.start();
  pipeline.stop();
  const auto result = pipeline.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::cancelled);
  EXPECT_FALSE(writer.push(1));
}

TEST(Pipeline, FlatMapKeepsOrderAndStopsWithoutReader) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(50));
  auto many = pipeline.flat_map<int>("repeat", std::move(source),
                                     [](int&& n, const Emit<int>& emit) -> Result<void> {
                                       for (int i = 0; i < 20; ++i)
                                         if (!emit(n * 20 + i)) return {};
                                       return {};
                                     },
                                     {.threads = 3, .order = Order::input, .window = 2, .output = {.items = 4}});
  std::vector<int> got;
  pipeline.start();
  while (auto item = many.pop()) {
    got.push_back(*item);
    if (got.size() == 900) many = {};
  }
  ASSERT_TRUE(pipeline.join());
  std::vector<int> expected(900);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(got, expected);
}

TEST(Pipeline, ThreadsMayBeSetBeforeTheStart) {
  Pipeline pipeline;
  auto [writer, reader] = make_channel<int>({.items = 2});
  pipeline.sink("wait", std::move(reader), [](int&&) -> Result<void> { return {}; });
  ASSERT_TRUE(pipeline.set_threads("wait", 3));
  EXPECT_EQ(pipeline.report().stages[0].threads.all(), 0);
  pipeline.start();
  eventually([&] { return pipeline.report().stages[0].threads.all() == 3; });
  writer = {};
  EXPECT_TRUE(pipeline.join());
}

TEST(Pipeline, DeeperQueueLetsItsStageGoOnAndKeepsTheOrder) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(9), {.output = {.items = 1}});
  auto out =
      pipeline.map("pass", std::move(source), [](int&& item) -> Result<int> { return item; }, {.output = {.items = 2}});
  pipeline.start();
  const auto waiting = [&] { return pipeline.report().stages[1].output; };
  eventually([&] { return waiting().items == 2 && waiting().writers == 1; });
  ASSERT_TRUE(pipeline.set_queue("pass", 6));
  eventually([&] { return waiting().items == 6; });
  ASSERT_TRUE(pipeline.set_queue("pass", 1)) << "those that wait stay";
  EXPECT_EQ(waiting().items, 6U);
  std::vector<int> got;
  while (auto item = out.pop()) got.push_back(*item);
  EXPECT_TRUE(pipeline.join());
  std::vector<int> expected(9);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(got, expected);
}

TEST(Pipeline, QueueOfAnUnknownStageOrASinkCannotBeChanged) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(1));
  pipeline.sink("drop", std::move(source), [](int&&) -> Result<void> { return {}; });
  EXPECT_NE(pipeline.set_queue("dorp", 2).error().text().find("count, drop"), std::string::npos);
  EXPECT_EQ(pipeline.set_queue("drop", 2).error().fault, Fault::usage);
  EXPECT_EQ(pipeline.set_queue("count", 0).error().fault, Fault::usage);
  EXPECT_TRUE(pipeline.run());
}

TEST(Pipeline, ThreadsOfAnUnknownStageOrASourceCannotBeChanged) {
  Pipeline pipeline;
  auto source = pipeline.source("count", numbers(1));
  pipeline.sink("drop", std::move(source), [](int&&) -> Result<void> { return {}; });
  EXPECT_NE(pipeline.set_threads("dorp", 2).error().text().find("count, drop"), std::string::npos);
  EXPECT_EQ(pipeline.set_threads("count", 2).error().fault, Fault::usage);
  EXPECT_EQ(pipeline.set_threads("drop", 0).error().fault, Fault::usage);
  EXPECT_TRUE(pipeline.run());
}

TEST(Pipeline, AddingToARunningPipelineIsABrokenPromise) {
  Pipeline pipeline;
  pipeline.start();
  EXPECT_THROW(pipeline.source("late", numbers(1)), std::logic_error);
  EXPECT_THROW(pipeline.start(), std::logic_error);
  EXPECT_THROW(Pipeline().join().has_value(), std::logic_error);
  EXPECT_TRUE(pipeline.join());
}

}  // namespace
}  // namespace tutti
