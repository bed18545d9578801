#include "base/once_value.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tutti {
namespace {

using Voice = std::vector<int>;

TEST(OnceValue, ManyCallersComputeItOnce) {
  OnceValue<Voice> voice;
  std::atomic<int> computed{0}, right{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&] {
        const auto found = voice.get([&]() -> Result<Voice> {
          ++computed;
          std::this_thread::yield();
          return Voice{1, 0};
        });
        right += found && *found == Voice{1, 0} ? 1 : 0;
      });
  }
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(right, 8);
}

TEST(OnceValue, NextCallerComputesAfterAnError) {
  OnceValue<Voice> voice;
  const auto failed = voice.get([]() -> Result<Voice> { return fail(Fault::cancelled, "stopped"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().fault, Fault::cancelled);
  EXPECT_THROW(static_cast<void>(voice.get([]() -> Result<Voice> { throw std::runtime_error("no memory"); })),
               std::runtime_error);
  EXPECT_EQ(voice.get([]() -> Result<Voice> { return Voice{2}; }).value(), Voice{2});
  EXPECT_EQ(voice.get([]() -> Result<Voice> { return Voice{3}; }).value(), Voice{2});
}

}  // namespace
}  // namespace tutti
