// Sorting more records than the memory holds.

#include "traces/spilled_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti {
namespace {

struct Record {
  std::uint64_t key = 0, value = 0;
  bool operator<(const Record& other) const { return key < other.key; }
};

std::vector<std::uint64_t> sorted_keys(std::size_t count, Bytes memory) {
  std::mt19937_64 random(7);
  SpilledSort<Record> sort(memory);
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(sort.push({random(), i}));
  sort.sort();
  std::vector<std::uint64_t> keys;
  SpilledSort<Record>::Reader reader(sort);
  while (const auto record = reader.next()) keys.push_back(record->key);
  EXPECT_FALSE(reader.error());
  return keys;
}

TEST(SpilledSort, RecordsBeyondTheMemoryComeInOrder) {
  const auto keys = sorted_keys(50'000, Bytes{16 * 700});
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(keys, sorted_keys(50'000, Bytes{1 << 30}));
}

TEST(SpilledSort, SecondReaderBeginsAgain) {
  SpilledSort<Record> sort(Bytes{16 * 4});
  for (const std::uint64_t key : {5, 3, 9, 1, 7}) ASSERT_TRUE(sort.push({key, 0}));
  sort.sort();
  for (int i = 0; i < 2; ++i) {
    SpilledSort<Record>::Reader reader(sort);
    for (const std::uint64_t key : {1, 3, 5, 7, 9}) EXPECT_EQ(reader.next()->key, key);
    EXPECT_FALSE(reader.next());
  }
}

}  // namespace
}  // namespace tutti
