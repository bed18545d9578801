#include "serve/alerts/alert_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/alerts/alert_watch.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Job at_work(JobId id, double progress, int attempts = 1) {
  Job job{.id = id};
  job.state = JobState::running;
  job.progress = progress;
  job.attempts = attempts;
  job.spec.name = "talk.mp3";
  return job;
}

constexpr Seconds kMinute{60};

class Alerts : public testing::Test {
 protected:
  std::vector<Alert> look(double minutes, const JobCounts& counts, const std::vector<Job>& running = {},
                          bool may_begin = true) {
    return rules_.look(minutes * kMinute, counts, running, may_begin);
  }
  AlertRules rules_{AlertLimits{}};
};

TEST_F(Alerts, JobWithoutProgressIsReportedOnceAndWhenItGoesOn) {
  const JobCounts counts{.running = 1};
  EXPECT_THAT(look(0, counts, {at_work(7, 0.5)}), IsEmpty());
  EXPECT_THAT(look(30, counts, {at_work(7, 0.5)}), IsEmpty());
  const auto alerts = look(31, counts, {at_work(7, 0.5)});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].rule, "job_stuck");
  EXPECT_TRUE(alerts[0].firing);
  EXPECT_THAT(alerts[0].text, HasSubstr("talk.mp3 (job 7) for 31 minutes"));
  EXPECT_THAT(alerts[0].jobs, ElementsAre(7));
  EXPECT_THAT(look(32, counts, {at_work(7, 0.5)}), IsEmpty());
  const auto over = look(33, counts, {at_work(7, 0.6)});
  ASSERT_THAT(over, SizeIs(1));
  EXPECT_FALSE(over[0].firing);
}

TEST_F(Alerts, AlertThatLastsIsRepeatedEveryHour) {
  const JobCounts counts{.running = 1};
  look(0, counts, {at_work(7, 0)});
  EXPECT_THAT(look(31, counts, {at_work(7, 0)}), SizeIs(1));
  EXPECT_THAT(look(90, counts, {at_work(7, 0)}), IsEmpty());
  EXPECT_THAT(look(91, counts, {at_work(7, 0)}), SizeIs(1));
}

TEST_F(Alerts, AnotherAttemptOrProgressBeginsTheWaitAgain) {
  const JobCounts counts{.running = 1};
  look(0, counts, {at_work(7, 0)});
  look(20, counts, {at_work(7, 0, 2)});
  EXPECT_THAT(look(40, counts, {at_work(7, 0, 2)}), IsEmpty());
  look(45, counts, {at_work(7, 0.1, 2)});
  EXPECT_THAT(look(70, counts, {at_work(7, 0.1, 2)}), IsEmpty());
  EXPECT_THAT(look(76, counts, {at_work(7, 0.1, 2)}), SizeIs(1));
}

TEST_F(Alerts, QueueOfWhichNothingIsInWorkIsStuck) {
  look(0, {.queued = 3});
  EXPECT_THAT(look(20, {.queued = 3, .running = 1}, {at_work(1, 0)}), IsEmpty());
  look(21, {.queued = 3});
  EXPECT_THAT(look(50, {.queued = 3}), IsEmpty());
  const auto alerts = look(52, {.queued = 3});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].rule, "queue_stuck");
  EXPECT_THAT(alerts[0].text, HasSubstr("3 jobs waiting"));
}

TEST_F(Alerts, QueueThatWaitsForItsRetriesIsNotStuck) {
  look(0, {.queued = 3}, {}, /*may_begin=*/false);
  EXPECT_THAT(look(60, {.queued = 3}, {}, /*may_begin=*/false), IsEmpty());
  look(61, {.queued = 3});
  EXPECT_THAT(look(80, {.queued = 3}), IsEmpty()) << "their time has come 19 minutes ago";
  EXPECT_THAT(look(92, {.queued = 3}), SizeIs(1));
}

TEST_F(Alerts, WhatEndedBeforeTheStartCounts) {
  rules_.add_ended(Seconds(0), 10 * kMinute, 1, 3);
  rules_.add_ended(Seconds(0), 30 * kMinute, 1, 0);
  const auto alerts = look(0, {.done = 2, .dead = 3});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_THAT(alerts[0].text, HasSubstr("3 of the 5 jobs"));
  EXPECT_THAT(look(31, {.done = 2, .dead = 3}), SizeIs(1)) << "four within the hour are too few: it is over";
}

TEST_F(Alerts, FailuresAboveTheShareOfAnHourAreReported) {
  look(0, {.done = 100, .dead = 50});  // earlier ones do not count
  EXPECT_THAT(look(1, {.done = 102, .dead = 52}), IsEmpty()) << "four are too few";
  const auto alerts = look(2, {.done = 103, .dead = 52});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].rule, "failures");
  EXPECT_THAT(alerts[0].text, HasSubstr("2 of the 5 jobs"));
  EXPECT_THAT(look(3, {.done = 108, .dead = 52}), SizeIs(1)) << "20 % are not more than 20 %: it is over";
}

TEST_F(Alerts, JobsThatEndedLongerAgoThanAnHourDoNotCount) {
  look(0, {});
  EXPECT_THAT(look(1, {.dead = 5}), SizeIs(1));
  EXPECT_THAT(look(60, {.dead = 5}), IsEmpty());
  EXPECT_THAT(look(62, {.dead = 5}), SizeIs(1)) << "it is over";
}

TEST_F(Alerts, RetriedAndRemovedJobsAreNoNewEnds) {
  look(0, {.done = 10, .dead = 10});
  look(1, {.queued = 10, .done = 0, .dead = 0});
  EXPECT_THAT(look(2, {.done = 6, .dead = 0}), IsEmpty());
}

TEST(AlertJson, HasWhatAWebhookNeeds) {
  EXPECT_EQ(
      alert_json({.rule = "job_stuck", .text = "1 job", .jobs = {7}}, 12.5, "gpu-1", "turbo"),
      R"({"alert":"job_stuck","state":"firing","text":"1 job","at":12.5,"host":"gpu-1","model":"turbo","jobs":["7"]})");
}

}  // namespace
}  // namespace tutti
