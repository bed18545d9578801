// Properties that hold for any capacity, thread count, order and moment of closing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "flow/pipeline.h"
#include "support/seeds.h"

namespace tutti {
namespace {

/// An item that knows how many of its kind exist.
struct Counted {
  int number = 0;
  std::shared_ptr<int> body;
};

std::size_t weight_of(const Counted& item) {
  return static_cast<std::size_t>(item.number % 7 + 1);
}

struct Shape {
  QueueLimits limits;
  int writers, readers, each;
};

Shape random_shape(Dice& dice) {
  Shape shape{.limits = {.items = static_cast<std::size_t>(dice.between(1, 9))},
              .writers = dice.between(1, 4),
              .readers = dice.between(1, 4),
              .each = dice.between(0, 300)};
  if (dice.coin()) shape.limits.bytes = static_cast<std::size_t>(dice.between(1, 20));
  return shape;
}

/// Each item once, and to each reader every writer's items in the order they were written.
void expect_complete(const Shape& shape, const std::vector<std::vector<int>>& got) {
  std::vector<int> all;
  for (const auto& part : got) {
    std::map<int, int> last;  // by writer
    for (int number : part) {
      const auto [at, is_first] = last.try_emplace(number / shape.each, number);
      EXPECT_TRUE(is_first || at->second < number);
      at->second = number;
      all.push_back(number);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<int> expected(static_cast<std::size_t>(shape.writers * shape.each));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

TEST(FlowProperty, EveryItemArrivesExactlyOnceAndTheBoundsHold) {
  for (const auto seed : seeds(40)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    const Shape shape = random_shape(dice);
    std::vector<std::vector<int>> got(static_cast<std::size_t>(shape.readers));
    std::atomic<int> broken_bounds = 0;
    {
      auto [writer, reader] = make_channel<Counted>(shape.limits, weight_of);
      std::vector<std::jthread> threads;
      for (auto& mine : got)
        threads.emplace_back([&, reader = reader] {
          while (auto item = reader.pop()) {
            mine.push_back(item->number);
            const auto level = reader.watch().lock()->level();
            if (level.items > shape.limits.items || (level.bytes > shape.limits.bytes && level.items > 1))
              ++broken_bounds;
          }
        });
      for (int w = 0; w < shape.writers; ++w)
        threads.emplace_back([&, w, writer = writer] {
          for (int i = 0; i < shape.each; ++i) EXPECT_TRUE(writer.push({.number = w * shape.each + i, .body = {}}));
        });
      writer = {};
    }
    EXPECT_EQ(broken_bounds, 0);
    expect_complete(shape, got);
  }
}

TEST(FlowProperty, ReadersThatLeaveAtAnyMomentReleaseEveryWriterAndEveryItem) {
  for (const auto seed : seeds(60)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    const Shape shape = random_shape(dice);
    const auto body = std::make_shared<int>(0);
    std::atomic<int> accepted = 0, taken = 0, kept = 0;
    auto [writer, reader] = make_channel<Counted>(shape.limits, weight_of);
    {
      std::vector<std::jthread> threads;
      for (int r = 0; r < shape.readers; ++r)
        threads.emplace_back([&, leave_after = dice.between(0, 200), reader = reader] {
          for (int i = 0; i < leave_after && reader.pop(); ++i) ++taken;
        });
      for (int w = 0; w < shape.writers; ++w)
        threads.emplace_back([&, writer = writer] {
          Counted item;
          do item = {.number = accepted, .body = body};
          while (writer.push(std::move(item)) && ++accepted);
          kept += item.body == body;
        });
      reader = {};
    }
    EXPECT_EQ(kept, shape.writers) << "a refused item stays with its writer";
    EXPECT_GE(accepted, taken);
    EXPECT_EQ(body.use_count(), 1) << "what waited is gone, though a writer still holds the queue";
    EXPECT_FALSE(writer.push({}));
  }
}

/// What a random stage does to numbers: passes each on, or 0 to 3 copies, and fails on some.
struct Rule {
  int unlucky;
  bool is_many;

  int copies(int number) const { return is_many ? number % 4 : 1; }
  Result<void> check(int number) const {
    if (number % 41 == unlucky) throw std::runtime_error("unlucky number");
    if (number % 43 == unlucky) return fail(Fault::corrupt, "unlucky number");
    return {};
  }
  bool fails(int number) const { return number % 41 == unlucky || number % 43 == unlucky; }
};

std::vector<int> expected_output(int count, const std::vector<Rule>& rules) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const auto& rule : rules) {
    std::vector<int> next;
    for (int number : numbers)  // what came out before a failure stays out
      if (rule.is_many || !rule.fails(number))
        next.insert(next.end(), static_cast<std::size_t>(rule.copies(number)), number);
    numbers = std::move(next);
  }
  return numbers;
}

Reader<Counted> add_stage(Pipeline& pipeline, Dice& dice, Reader<Counted>&& in, const std::string& name, Order order,
                          Rule rule) {
  StageOptions options{.threads = dice.between(1, 5),
                       .on_error = OnError::skip,
                       .order = order,
                       .window = static_cast<std::size_t>(dice.between(0, 5)),
                       .output = {.items = static_cast<std::size_t>(dice.between(1, 6))}};
  if (dice.coin()) options.output.bytes = static_cast<std::size_t>(dice.between(1, 15));
  const auto one = [rule](Counted&& item) -> Result<Counted> {
    if (auto fine = rule.check(item.number); !fine) return tl::unexpected<Error>(fine.error());
    return std::move(item);
  };
  const auto many = [rule](Counted&& item, const Emit<Counted>& emit) -> Result<void> {
    for (int copy = rule.copies(item.number); copy > 0; --copy)
      if (!emit(Counted(item))) return {};
    return rule.check(item.number);
  };
  if (rule.is_many) return pipeline.flat_map<Counted>(name, std::move(in), many, options, weight_of);
  return pipeline.map(name, std::move(in), one, options, weight_of);
}

std::vector<Rule> random_rules(Dice& dice) {
  std::vector<Rule> rules;
  for (int stages = dice.between(1, 3); stages > 0; --stages) rules.push_back({dice.between(0, 40), dice.coin()});
  return rules;
}

/// Changes thread counts at random until it is destroyed.
std::jthread meddler(Pipeline& pipeline, std::size_t stages, std::uint64_t seed) {
  return std::jthread(
      [&pipeline, last = static_cast<int>(stages) - 1, dice = Dice(seed)](const std::stop_token& over) mutable {
        while (!over.stop_requested()) {
          EXPECT_TRUE(pipeline.set_threads("stage " + std::to_string(dice.between(0, last)), dice.between(1, 5)));
          for (const auto& stage : pipeline.report().stages) EXPECT_GE(stage.times.lived().count(), 0);
        }
      });
}

/// What the numbers of a finished pipeline must say about each other.
void expect_audio(const Pipeline& pipeline, std::uint64_t skipped) {
  const auto report = pipeline.report();
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    const auto& stage = report.stages[i];
    failed += stage.failed;
    EXPECT_EQ(stage.threads.all(), 0);
    if (i == 0) continue;
    EXPECT_EQ(stage.items_in, report.stages[i - 1].items_out);
    EXPECT_EQ(stage.service.count, stage.items_in);
  }
  EXPECT_EQ(skipped, failed);
}

auto counted_source(int count, const std::shared_ptr<int>& body) {
  return [count, body, next = 0]() mutable -> std::optional<Result<Counted>> {
    if (next == count) return std::nullopt;
    return Counted{.number = next++, .body = body};
  };
}

TEST(FlowProperty, APipelineLosesNothingAndKeepsOrderWhileItsThreadsChange) {
  for (const auto seed : seeds(40)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    const auto body = std::make_shared<int>(0);
    const Order order = dice.coin() ? Order::input : Order::completion;
    const auto rules = random_rules(dice);
    const int count = dice.between(0, 400);
    std::vector<int> got;
    {
      std::uint64_t skipped = 0;
      Pipeline pipeline({.on_skip = [&](const StageError&) { ++skipped; }});
      auto out = pipeline.source("count", counted_source(count, body));
      for (std::size_t i = 0; i < rules.size(); ++i)
        out = add_stage(pipeline, dice, std::move(out), "stage " + std::to_string(i), order, rules[i]);
      pipeline.start();
      const auto meddling = meddler(pipeline, rules.size(), seed + 1);
      while (auto item = out.pop()) got.push_back(item->number);
      ASSERT_TRUE(pipeline.join());
      expect_audio(pipeline, skipped);
    }
    if (order == Order::completion) std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected_output(count, rules));
    EXPECT_EQ(body.use_count(), 1);
  }
}

TEST(FlowProperty, APipelineStoppedAtAnyMomentEndsAndHoldsNothing) {
  for (const auto seed : seeds(40)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    const auto body = std::make_shared<int>(0);
    const auto rules = random_rules(dice);
    const int stop_after = dice.between(0, 100);
    const bool is_closed = dice.coin();
    Pipeline pipeline;
    auto out = pipeline.source("endless", counted_source(std::numeric_limits<int>::max(), body));
    for (std::size_t i = 0; i < rules.size(); ++i)
      out = add_stage(pipeline, dice, std::move(out), "stage " + std::to_string(i),
                      dice.coin() ? Order::input : Order::completion, rules[i]);
    pipeline.start();
    const auto meddling = meddler(pipeline, rules.size(), seed + 1);
    for (int i = 0; i < stop_after; ++i) EXPECT_TRUE(out.pop());
    if (is_closed)
      out = {};
    else
      pipeline.stop();
    const auto result = pipeline.join();
    EXPECT_EQ(result.has_value(), is_closed);
    EXPECT_EQ(body.use_count(), 1);
  }
}

}  // namespace
}  // namespace tutti
