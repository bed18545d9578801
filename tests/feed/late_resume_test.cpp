// A run that goes on late: the batches before are neither read nor counted through.

#include <gtest/gtest.h>

#include <ctime>

#include "feed/batch_rules.h"
#include "feed/corpus.h"
#include "feed/sample_order.h"

namespace tutti {
namespace {

constexpr std::int64_t kLines = 400'600;
constexpr std::size_t kPrefix = sizeof(std::uint64_t);  // the first bytes of a position: the digest of its set

/// As many lines, all of them of one short file.
std::string many_lines() {
  std::string lines;
  for (std::int64_t i = 0; i < kLines; ++i)
    lines += R"({"id":")" + std::to_string(i) + R"(","audio":"s0.wav","text":"a","duration":0.25})" + "\n";
  return lines;
}

/// The planner of a run, taken on to where batch `number` is the next: by the rules alone, without any audio.
Planner planner_before(std::int64_t number, const FeedOptions& options, std::string_view position) {
  Planner planner = planner_for(options);
  EXPECT_TRUE(planner.restore(position));
  SampleOrder order(options, kLines, planner.epoch(), planner.cursor());
  while (planner.in_flight().empty() || planner.in_flight().front().number < number) {
    if (planner.wants_batch()) {
      if (!planner.has_space()) planner.resolve();
      planner.choose();
    } else if (const auto next = order.next(); next->kind == Probed::Kind::sample) {
      planner.add(next->cursor, {{next->index, -1, 25}});
    }
  }
  return planner;
}

TEST(LateResume, AtBatch100000ItTakesLessThanASecondToTheVeryNextSample) {
  Corpus corpus({0.25});
  corpus.write(many_lines());
  FeedOptions options = options_for(corpus.manifest());
  const std::string early = opened(options).next().value()->position;
  const Planner planner = planner_before(100'000, options, std::string_view(early).substr(kPrefix));
  std::vector<std::string> expected;
  for (const auto& sample : planner.in_flight().front().samples) expected.push_back(std::to_string(sample.index));
  options.resume = early.substr(0, kPrefix) + planner.save();
  const std::clock_t begin = std::clock();  // of the processor: a machine that does other things is no slower
  Feed feed = opened(options);
  const auto batch = feed.next();
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(batch) << batch.error().text();
  EXPECT_LT(took, 1);
  EXPECT_EQ((*batch)->index, 100'000);
  std::vector<std::string> found;
  for (const auto& sample : (*batch)->samples) found.push_back(sample.id);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace tutti
