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
    order->add(1, Seconds(10));
    order->add(2, Seconds(30));
    order->add(3, Seconds(30));
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
  order.add_later(1, Seconds(10), kNow + 5s);
  EXPECT_FALSE(order.take(kNow));
  EXPECT_EQ(order.wake_at(kNow), kNow + 5s);
  order.add(2, Seconds(1));
  EXPECT_EQ(order.wake_at(kNow), kNow);
  EXPECT_EQ(order.take(kNow + 5s), 1) << "longer, and due";
  EXPECT_EQ(order.take(kNow + 5s), 2);
  EXPECT_EQ(order.size(), 0U);
}
