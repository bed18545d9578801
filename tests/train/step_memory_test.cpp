#include "train/optimiser_step/step_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "feed/buffers.h"
#include "model/gpu/out_of_memory.h"
#include "support/memory_limit.h"

namespace tutti {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(StepMemory, TheNextStepGetsTheBlocksOfTheLast) {
  StepMemory memory;
  std::vector<void*> before;
  for (int step = 0; step < 3; ++step) {
    std::vector<c10::DataPtr> blocks;
    for (const auto size : {3 * kMiB, kMiB, 5 * kMiB}) blocks.push_back(memory.allocate(size));
    std::vector<void*> now;
    for (const auto& block : blocks) now.push_back(block.get());
    if (step > 0) {
      EXPECT_EQ(now, before);
    }
    before = now;
  }
  const auto held = memory.held();
  EXPECT_EQ(held.used, 0u);
  EXPECT_EQ(held.kept, 9 * kMiB);
  EXPECT_EQ(held.most, 9 * kMiB);
}

TEST(StepMemory, ABatchThatIsALittleShorterFindsTheBlockOfALongerOne) {
  StepMemory memory;
  void* const before = memory.allocate(1000 * 1000 * 3).get();
  EXPECT_EQ(memory.allocate(980 * 1000 * 3).get(), before);
  memory.allocate(500 * 1000 * 3);
  EXPECT_EQ(memory.held().kept, kMiB * 3 / 2) << "a block of twice the size is not taken for it";
}

TEST(StepMemory, HoldsNoMoreThanWasUsedAtOnce) {
  StepMemory memory;
  std::uint64_t state = 1;
  std::vector<c10::DataPtr> blocks(20);
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto& block = blocks[(state >> 33) % blocks.size()];
    block = {};
    block = memory.allocate((state >> 40) % (2 * kMiB));
    const auto held = memory.held();
    ASSERT_LE(held.used + held.kept, held.most);
  }
  EXPECT_LE(memory.held().most, 20 * 2 * kMiB * 9 / 8);
}

TEST(StepMemory, DataIsAlignedAsTorchsAndNothingIsNothing) {
  StepMemory memory;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, kMiB + 1})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.allocate(bytes).get()) % 64, 0u) << bytes;
  EXPECT_EQ(memory.allocate(0).get(), nullptr);
  void* raw = memory.raw_allocate(kMiB);
  memory.raw_deallocate(raw);
  EXPECT_EQ(memory.held().used, 0u);
}

TEST(StepMemory, ThreadsFreeBlocksOfOtherThreads) {
  StepMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&memory] {
      for (int i = 0; i < 200; ++i) {
        auto block = memory.allocate(kMiB);
        std::thread([block = std::move(block)]() mutable { block = {}; }).join();
      }
    });
  for (auto& thread : threads) thread.join();
  const auto held = memory.held();
  EXPECT_EQ(held.used, 0u);
  EXPECT_LE(held.most, 4 * kMiB);
}

TEST(StepMemory, KeptBlocksAreFreedBeforeMemoryRunsOut) {
  if (!MemoryLimit::can_be_survived()) GTEST_SKIP() << "MemoryLimit: a sanitizer ends the process instead";
  StepMemory memory;
  {
    const auto one = memory.allocate(320 * kMiB), two = memory.allocate(320 * kMiB),
               three = memory.allocate(320 * kMiB);
  }
  memory.allocate(640 * kMiB);                     // in the memory of two
  const auto small = memory.allocate(192 * kMiB);  // in the memory of that
  ASSERT_EQ(memory.held().kept, 320 * kMiB);
  const MemoryLimit limit(200 * kMiB);
  const auto large = memory.allocate(448 * kMiB);
  EXPECT_NE(large.get(), nullptr);
  EXPECT_EQ(memory.held().kept, 0u);
  try {
    memory.allocate(900 * kMiB);
    FAIL() << "there is no room for that";
  } catch (const std::exception& problem) {
    EXPECT_TRUE(is_out_of_memory(problem)) << problem.what();
  }
  EXPECT_EQ(memory.held().most, memory.held().used) << "what fits now is what counts from here on";
}

TEST(StepMemory, FreeingKeepsNoBlock) {
  StepMemory memory;
  const auto used = memory.allocate(kMiB);
  for (const auto size : {3 * kMiB, 3 * kMiB, 5 * kMiB}) memory.allocate(size);
  EXPECT_TRUE(memory.free_kept());
  const auto held = memory.held();
  EXPECT_EQ(held.kept, 0u);
  EXPECT_EQ(held.used, kMiB);
  EXPECT_EQ(held.most, kMiB);
  EXPECT_FALSE(memory.free_kept()) << "what is used stays";
}

TEST(StepMemory, ALimitHoldsForWhatIsUsedAndKept) {
  StepMemory memory;
  memory.limit(10 * kMiB);
  auto used = memory.allocate(4 * kMiB);
  memory.allocate(6 * kMiB);  // is kept from now on
  EXPECT_EQ(memory.held().kept, 6 * kMiB);
  const auto other = memory.allocate(5 * kMiB);
  const auto held = memory.held();
  EXPECT_EQ(held.used, 9 * kMiB);
  EXPECT_EQ(held.kept, 0u) << "six more would be beyond the limit";
  try {
    memory.allocate(2 * kMiB);
    FAIL() << "beyond the limit";
  } catch (const std::exception& problem) {
    EXPECT_TRUE(is_out_of_memory(problem));
    EXPECT_EQ(text_of(problem), "device-memory of 10 MB: 9 MB are in use, and a tensor needs 2 MB more");
  }
  {
    const OutsideMemoryLimit copying;
    EXPECT_NE(memory.allocate(20 * kMiB).get(), nullptr) << "a checkpoint's copy is no part of it";
  }
  EXPECT_EQ(memory.held().used + memory.held().kept, 9 * kMiB);
  used = {};
  EXPECT_NE(memory.allocate(3 * kMiB).get(), nullptr) << "what is free again may be used again";
  EXPECT_EQ(memory.held().used, 5 * kMiB);
}

TEST(StepMemory, WhatIsUsedElsewhereCountsInALimit) {
  StepMemory memory;
  memory.limit(10 * kMiB, /*elsewhere=*/7 * kMiB);
  const auto used = memory.allocate(3 * kMiB);
  EXPECT_THROW(memory.allocate(kMiB), std::exception);
}

TEST(StepMemory, KeptBlocksAreFreedForTheFeedToo) {
  if (!MemoryLimit::can_be_survived()) GTEST_SKIP() << "MemoryLimit: a sanitizer ends the process instead";
  keep_step_memory();
  at::empty({256 << 20}, at::kByte).reset();
  const MemoryLimit limit(100 * kMiB);
  BufferPool pool;
  EXPECT_NE(pool.take((150 * kMiB) / sizeof(float)).data(), nullptr);
  EXPECT_THROW(pool.take((1000 * kMiB) / sizeof(float)), std::bad_alloc);
}

}  // namespace
}  // namespace tutti
