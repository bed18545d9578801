#include "transcribe/batch/work_order.h"

#include <gtest/gtest.h>

using namespace tutti;
using namespace std::chrono_literals;

namespace {

const Clock::Instant kNow = Clock::Instant{} + 1h;

}  // namespace

TEST(WorkOrder, TheLongestIsTakenFirstUnlessArrivalCounts) {
  WorkOrder longest(false), arrival(true);
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

TEST(WorkOrder, WhatIsPutOffComesWhenItsTimeHasCome) {
  WorkOrder order(false);
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
  WorkOrder order(false), arrival(true);
  const WaitingTask tasks[] = {{1, Seconds(100)},
                               {2, Seconds(50), TaskClass::batch, 2},
                               {3, Seconds(10), TaskClass::normal},
                               {4, Seconds(99), TaskClass::normal},
                               {5, Seconds(20), TaskClass::interactive},
                               {6, Seconds(5), TaskClass::interactive},
                               {7, Seconds(1), TaskClass::batch, 7}};
  for (const auto& task : tasks) {
    order.add(task);
    arrival.add(task);
  }
  for (const TaskId next : {6, 5, 7, 3, 4, 2, 1}) EXPECT_EQ(order.take(kNow), next);
  EXPECT_EQ(arrival.take(kNow), 1) << "a policy that goes by arrival knows no class";
}
