#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "feed/corpus.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

namespace tutti {
namespace {

using std::chrono::seconds;

StageTimes times_of(const FeedReport& report, const std::string& name) {
  const auto& stages = report.stages.stages;
  const auto found = std::ranges::find(stages, name, &StageReport::name);
  return found == stages.end() ? StageTimes{} : found->times;
}

TEST(FeedReport, PlanWaitingForSpaceIsNotCountedAsBusy) {
  const Corpus corpus(mixed_lengths(40));
  FakeClock clock;
  auto options = options_for(corpus.manifest());
  options.epochs = 0;
  options.clock = &clock;
  const Feed feed = opened(options);
  // No batch is taken, so once all slots are full only the time advances.
  FeedReport passed;
  eventually([&] {
    const auto before = feed.report();
    clock.advance(seconds(1));
    passed = feed.report().since(before);
    return times_of(passed, "plan").blocked == seconds(1);
  });
  EXPECT_EQ(times_of(passed, "plan").busy, seconds(0));
}

TEST(FeedReport, SinceAnEarlierOneOnlyWhatCameLaterCounts) {
  const Corpus corpus(mixed_lengths(40));
  Feed feed = opened(options_for(corpus.manifest()));
  std::int64_t samples = 0;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(*feed.next());
  const auto before = feed.report();
  for (int i = 0; i < 3; ++i) samples += (*feed.next())->size();
  const auto later = feed.report().since(before);
  EXPECT_EQ(later.batches, 3);
  EXPECT_EQ(later.samples, samples);
  EXPECT_EQ(later.waits.count, 3u);
  EXPECT_EQ(before.padded_frames + later.padded_frames, feed.report().padded_frames);
  EXPECT_LE(times_of(later, "decode").lived(), times_of(feed.report(), "decode").lived());
}

}  // namespace
}  // namespace tutti
