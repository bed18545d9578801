#include "transcribe/service/fair_queue.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

std::string all_of(FairQueue<int>& queue) {
  std::string order;
  while (const auto next = queue.pop()) order += std::to_string(*next) + " ";
  return order;
}

}  // namespace

TEST(FairQueue, ClientsTakeTurnsHoweverManyRequestsOneHas) {
  FairQueue<int> queue;
  for (int i = 1; i <= 4; ++i) queue.push(JobClass::interactive, "busy", i);
  queue.push(JobClass::interactive, "other", 10);
  queue.push(JobClass::interactive, "third", 20);
  queue.push(JobClass::interactive, "other", 11);
  EXPECT_EQ(all_of(queue), "1 10 20 2 11 3 4 ");
}

TEST(FairQueue, InteractiveComesBeforeBulk) {
  FairQueue<int> queue;
  queue.push(JobClass::batch, "a", 1);
  queue.push(JobClass::interactive, "a", 2);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.size(JobClass::interactive), 1U);
  EXPECT_EQ(queue.pop(JobClass::interactive), 2);
  EXPECT_EQ(queue.pop(JobClass::interactive), std::nullopt);
  EXPECT_EQ(all_of(queue), "1 ");
}

TEST(FairQueue, RequestThatIsRemovedCostsNoTurn) {
  FairQueue<int> queue;
  queue.push(JobClass::interactive, "a", 1);
  queue.push(JobClass::interactive, "b", 2);
  queue.push(JobClass::interactive, "b", 3);
  EXPECT_TRUE(queue.remove(1));
  EXPECT_FALSE(queue.remove(1));
  EXPECT_EQ(all_of(queue), "2 3 ");
}
