#include <gmock/gmock.h>

#include "base/random/counter_random.h"
#include "text/error_rate.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

TEST(MatchingPositions, MatchEqualSymbolsInOrder) {
  const std::vector<std::int32_t> segment_text{1, 2, 3, 4, 5}, found{9, 1, 3, 8, 5, 5};
  EXPECT_THAT(matching_positions(segment_text, found),
              ElementsAre(Optional(1U), Eq(std::nullopt), Optional(2U), Eq(std::nullopt), Optional(4U)));
  EXPECT_TRUE(matching_positions({}, found).empty());
}

TEST(MatchingPositions, LieOnAShortestPath) {
  CounterRandom random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int32_t> segment_text(static_cast<std::size_t>(random.below(30))),
        found(static_cast<std::size_t>(random.below(30)));
    for (auto* row : {&segment_text, &found})
      for (auto& symbol : *row) symbol = static_cast<std::int32_t>(random.below(4));
    // Between two matches, what is left of both is changed, and the rest of the longer one added or left out.
    std::size_t at = 0, position = 0, errors = 0;
    const auto positions = matching_positions(segment_text, found);
    for (std::size_t i = 0; i <= segment_text.size(); ++i) {
      if (i < segment_text.size() && !positions[i]) continue;
      const std::size_t next = i < segment_text.size() ? *positions[i] : found.size();
      ASSERT_GE(next, position);
      if (i < segment_text.size()) {
        ASSERT_EQ(segment_text[i], found[next]);
      }
      errors += std::max(i - at, next - position);
      at = i + 1;
      position = next + 1;
    }
    EXPECT_EQ(static_cast<std::int64_t>(errors), edit_distance(segment_text, found));
  }
}

}  // namespace
}  // namespace tutti
