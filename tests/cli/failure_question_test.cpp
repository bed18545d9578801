#include "cli/batch/failure_question.h"

#include <gtest/gtest.h>

using namespace tutti;
using Action = BatchObserver::Action;

TEST(FailureQuestion, AcceptsInitialOrWordInAnyCaseAndEnterContinues) {
  for (const char* answer : {"g\n", "", "\n", "  \n", "GO\n", "go on\n"})
    EXPECT_EQ(parse_action(answer), Action::go_on);
  for (const char* answer : {"r\n", " R \r\n", "retry"}) EXPECT_EQ(parse_action(answer), Action::retry);
  for (const char* answer : {"s\n", "Stop\n"}) EXPECT_EQ(parse_action(answer), Action::stop);
}

TEST(FailureQuestion, RejectsEverythingElse) {
  for (const char* answer : {"y\n", "stopp\n", "gr\n", "\x1b[A\n"})
    EXPECT_EQ(parse_action(answer), std::nullopt) << answer;
}
