#include "feed/buffers.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

namespace tutti {
namespace {

TEST(BufferPool, BufferReturnsOnceAllSharersReleaseIt) {
  BufferPool pool;
  std::optional<HostBuffer> first = pool.take(1000);
  std::optional<HostBuffer> shared = first;
  const float* const address = first->data();
  first.reset();
  EXPECT_NE(pool.take(1000).data(), address);
  shared.reset();
  const HostBuffer a = pool.take(1000), b = pool.take(1000);
  EXPECT_TRUE(a.data() == address || b.data() == address);
}

TEST(BufferPool, ExcessFreeBuffersDropTheLongestUnused) {
  constexpr std::size_t kSmall = 16, kKept = 16;
  BufferPool pool, other;
  std::set<const float*> gather;
  std::vector<HostBuffer> taken;
  std::optional<HostBuffer> large = pool.take(1 << 20);
  for (std::size_t i = 0; i < kKept; ++i) gather.insert(taken.emplace_back(pool.take(kSmall)).data());
  large.reset();
  taken.clear();
  std::vector<HostBuffer> elsewhere;  // takes the memory that was released to the system
  for (int i = 0; i < 1000; ++i) elsewhere.push_back(other.take(kSmall));
  for (std::size_t i = 0; i < kKept; ++i)
    EXPECT_TRUE(gather.contains(taken.emplace_back(pool.take(kSmall)).data())) << i;
}

}  // namespace
}  // namespace tutti
