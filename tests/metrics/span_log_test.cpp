#include "metrics/span_log.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(SpanLog, ASpanLastsFromItsMakingToItsEndOfLife) {
  FakeClock clock;
  SpanLog log(8, clock);
  {
    const auto outer = log.run("file");
    clock.advance(1s);
    {
      const auto inner = log.run("window");
      clock.advance(2s);
    }
    clock.advance(4s);
  }
  const auto spans = log.snapshot();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "window");
  EXPECT_EQ(spans[0].end - spans[0].start, 2s);
  EXPECT_EQ(spans[1].name, "file");
  EXPECT_EQ(spans[1].end - spans[1].start, 7s);
}

TEST(SpanLog, TheOldestMakesRoom) {
  SpanLog log(2);
  for (const char* name : {"a", "b", "c"}) log.add({.name = name});
  const auto spans = log.snapshot();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "b");
  EXPECT_EQ(spans[1].name, "c");
}

}  // namespace
}  // namespace tutti
