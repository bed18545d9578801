#include "base/time_text.h"

#include <gtest/gtest.h>

#include "support/environment.h"

namespace tutti {
namespace {

TEST(TimeText, UtcDoesNotDependOnTheZone) {
  const ScopedVariable zone("TZ", "XXX-05:30");
  EXPECT_EQ(utc_text(1'768'932'303), "2026-01-20T18:05:03Z");
  const auto moment = std::chrono::system_clock::from_time_t(1'768'932'303);
  EXPECT_EQ(utc_text(moment + std::chrono::milliseconds(999), kPlainTime), "2026-01-20 18:05:03");
  ::tzset();
  EXPECT_EQ(local_text(moment), "2026-01-20 23:35:03");
}

}  // namespace
}  // namespace tutti
