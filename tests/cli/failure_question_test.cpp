#include "cli/batch/failure_question.h"

#include <gtest/gtest.h>

using namespace tutti;
using Wish = BatchObserver::Wish;

TEST(FailureQuestion, TakesALetterOrAWordInAnyCaseAndEnterForGoingOn) {
  for (const char* answer : {"g\n", "", "\n", "  \n", "GO\n", "go on\n"}) EXPECT_EQ(wish_of(answer), Wish::go_on);
  for (const char* answer : {"r\n", " R \r\n", "retry"}) EXPECT_EQ(wish_of(answer), Wish::retry);
  for (const char* answer : {"s\n", "Stop\n"}) EXPECT_EQ(wish_of(answer), Wish::stop);
}

TEST(FailureQuestion, TakesNothingElseForAnAnswer) {
  for (const char* answer : {"y\n", "stopp\n", "gr\n", "\x1b[A\n"}) EXPECT_EQ(wish_of(answer), std::nullopt) << answer;
}
