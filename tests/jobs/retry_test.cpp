#include "jobs/retry.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(Retry, WaitsDoubleWithFullJitterUpToTenMinutes) {
  EXPECT_EQ(decide_retry(FailureClass::transient, {.strikes = 0}, 0.0).wait, 0ms);
  EXPECT_EQ(decide_retry(FailureClass::transient, {.strikes = 0}, 0.5).wait, 5s);
  EXPECT_EQ(decide_retry(FailureClass::transient, {.strikes = 3}, 0.5).wait, 40s);
  EXPECT_EQ(decide_retry(FailureClass::transient, {.strikes = 60}, 0.5, {.most_strikes = 100}).wait, 5min);
}

TEST(Retry, FaultsOfTheFileArePermanent) {
  for (const Fault fault : {Fault::missing, Fault::corrupt, Fault::unsupported, Fault::refused, Fault::usage})
    EXPECT_EQ(failure_class_of({fault, ""}), FailureClass::permanent);
  EXPECT_FALSE(decide_retry(FailureClass::permanent, {}, 0.5).again);
  EXPECT_EQ(failure_class_of({Fault::device, ""}), FailureClass::device);
  for (const Fault fault : {Fault::exhausted, Fault::full, Fault::unavailable})
    EXPECT_EQ(failure_class_of({fault, ""}), FailureClass::transient);
}

TEST(Retry, UncountedFailuresAreRetriedAtOnce) {
  const auto decision = decide_retry(FailureClass::device, {.strikes = 4}, 0.9);
  EXPECT_TRUE(decision.again);
  EXPECT_FALSE(decision.counted);
  EXPECT_EQ(decision.wait, 0ms);
  EXPECT_FALSE(decide_retry(FailureClass::device, {.strikes = 4, .device_failures = 3}, 0.9).again);
}

}  // namespace
}  // namespace tutti
