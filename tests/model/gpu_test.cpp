#include "model/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Gpu, ADeviceThatIsNotThereIsAnErrorThatNamesIt) {
  const auto beyond = gpu::count();
  const auto facts = gpu::facts(beyond);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().fault, Fault::missing);
  EXPECT_THAT(facts.error().what, testing::HasSubstr("cuda:" + std::to_string(beyond)));
  EXPECT_FALSE(gpu::memory(beyond));
  EXPECT_FALSE(gpu::memory(-1));
}

TEST(Gpu, EveryDeviceThatIsThereHasANameAUuidAndMemory) {
  for (int index = 0; index < gpu::count(); ++index) {
    const auto facts = gpu::facts(index);
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_FALSE(facts->name.empty());
    EXPECT_THAT(facts->uuid, testing::MatchesRegex("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
    const auto memory = gpu::memory(index);
    ASSERT_TRUE(memory) << memory.error().text();
    EXPECT_GT(memory->total.value, 0);
    EXPECT_LE(memory->free.value, memory->total.value);
    gpu::synchronize(index);
  }
  gpu::release_cached_memory();
}

}  // namespace
}  // namespace tutti
