#include "transcribe/batch/work_order.h"

#include <gtest/gtest.h>

#include <random>

#include "jobs/fake_store_clock.h"
#include "jobs/open_store.h"
#include "support/temp_folder.h"

using namespace tutti;
using namespace std::chrono_literals;

namespace {

const Clock::Instant kNow = Clock::Instant{} + 1h;

}  // namespace

TEST(WorkOrder, TheLongestIsTakenFirstUnlessArrivalCounts) {
  WorkOrder longest(Policy::tutti), arrival(Policy::fifo);
  for (WorkOrder* order : {&longest, &arrival}) {
    order->add({1, Seconds(10)});
    order->add({2, Seconds(30)});
    order->add({3, Seconds(30)});
  }
  EXPECT_EQ(longest.take(kNow), 2);
  EXPECT_EQ(longest.take(kNow), 3) << "alike ones by arrival";
  EXPECT_EQ(longest.take(kNow), 1);
  EXPECT_EQ(arrival.take(kNow), 1);
}

TEST(WorkOrder, JobsAddedFirstPrecedeEverything) {
  for (const Policy policy : {Policy::tutti, Policy::fifo}) {
    WorkOrder order(policy);
    order.add({1, Seconds(10), false, JobClass::interactive, 1'000'000});
    order.add_first(2);
    order.add_first(3);
    EXPECT_EQ(order.take(kNow), 2);
    EXPECT_EQ(order.take(kNow), 3);
    EXPECT_EQ(order.take(kNow), 1);
  }
}

TEST(WorkOrder, DeferredJobIsTakenWhenDue) {
  WorkOrder order(Policy::tutti);
  EXPECT_FALSE(order.take(kNow));
  EXPECT_FALSE(order.wake_at(kNow));
  order.add_later({1, Seconds(10)}, kNow + 5s);
  EXPECT_FALSE(order.take(kNow));
  EXPECT_EQ(order.wake_at(kNow), kNow + 5s);
  order.add({2, Seconds(1)});
  EXPECT_EQ(order.wake_at(kNow), kNow);
  EXPECT_EQ(order.take(kNow + 5s), 1) << "longer, and due";
  EXPECT_EQ(order.take(kNow + 5s), 2);
  EXPECT_EQ(order.size(), 0U);
}

TEST(WorkOrder, ClassGoesBeforePriorityAndThatBeforeLength) {
  WorkOrder order(Policy::tutti), arrival(Policy::fifo);
  using enum JobClass;
  const PoolJob jobs[] = {{.id = 1, .audio = Seconds(100)},
                          {.id = 2, .audio = Seconds(50), .priority = 2},
                          {.id = 3, .audio = Seconds(10), .kind = normal},
                          {.id = 4, .audio = Seconds(99), .kind = normal},
                          {.id = 5, .audio = Seconds(20), .kind = interactive},
                          {.id = 6, .audio = Seconds(5), .kind = interactive},
                          {.id = 7, .audio = Seconds(1), .priority = 7}};
  for (const auto& job : jobs) {
    order.add(job);
    arrival.add(job);
  }
  for (const JobId next : {6, 5, 7, 3, 4, 2, 1}) EXPECT_EQ(order.take(kNow), next);
  EXPECT_EQ(arrival.take(kNow), 1) << "a policy that goes by arrival knows no class";
}

TEST(WorkOrder, InteractiveJobsGoByDeadlineThenByShortestLength) {
  WorkOrder order(Policy::tutti);
  const auto interactive = [](std::uint64_t id, double audio, std::optional<Seconds> deadline = {}) {
    return PoolJob{.id = id, .audio = Seconds(audio), .kind = JobClass::interactive, .deadline = deadline};
  };
  order.add(interactive(1, 100));
  order.add(interactive(2, 10));
  order.add(interactive(3, 900, Seconds(3600)));
  order.add(interactive(4, 10, Seconds(7200)));
  order.add(interactive(5, 900, Seconds(-60)));
  for (const JobId next : {5, 3, 4, 2, 1}) EXPECT_EQ(order.take(kNow), next);
}

TEST(WorkOrder, JobOfAnEarlierRunGainsPriorityEveryTenMinutes) {
  WorkOrder order(Policy::tutti);
  order.add({.id = 1, .audio = Seconds(100), .kind = JobClass::normal});
  order.add({.id = 2, .audio = Seconds(10), .queued_at = Seconds(-7 * 600)});
  order.add({.id = 3, .audio = Seconds(10), .queued_at = Seconds(-7 * 600 + 1)});
  order.add({.id = 4, .audio = Seconds(900), .queued_at = Seconds(-599)});
  order.add({.id = 5, .audio = Seconds(950)});
  for (const JobId next : {2, 3, 1, 5, 4}) EXPECT_EQ(order.take(kNow), next);
}

TEST(WorkOrder, WithinAClassItIsTheOrderInWhichTheStoreHandsItsJobsOut) {
  for (const JobClass job_class : {JobClass::interactive, JobClass::normal, JobClass::batch}) {
    const TempFolder folder;
    const FakeStoreClock clock;
    const auto store = open_store({.url = folder.path(), .clock = &clock}).value();
    std::mt19937 random(static_cast<unsigned>(job_class) + 1);
    const auto below = [&](unsigned end) { return random() % end; };
    std::vector<JobSpec> specs(40);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      specs[i] = {.key = std::to_string(i), .audio = Seconds(10 * below(6) + 1), .job_class = job_class};
      specs[i].priority = static_cast<int>(below(3)) - 1;
      if (below(2) == 0) specs[i].deadline = clock.wall() + std::chrono::minutes(below(4));
    }
    const auto submitted = store->submit(store->begin_run({}).value(), specs).value();
    WorkOrder order(Policy::tutti);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      PoolJob job{.id = static_cast<std::uint64_t>(submitted[i].id),
                  .audio = *specs[i].audio,
                  .kind = job_class,
                  .priority = specs[i].priority};
      if (specs[i].deadline) job.deadline = Seconds(*specs[i].deadline - clock.wall());
      order.add(job);
    }
    for (std::size_t i = 0; i < specs.size(); ++i)
      ASSERT_EQ(store->claim({}).value()->job.id, order.take(kNow))
          << "class " << static_cast<int>(job_class) << ", place " << i;
  }
}
