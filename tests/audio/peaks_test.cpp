#include "audio/peaks.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

/// Silence with one loud sample a second, louder each time.
class Ticks final : public SampleReader {
 public:
  std::int64_t samples() const override { return 10 * kModelRate.value; }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t at = first + static_cast<std::int64_t>(i);
      const bool tick = at >= 0 && at < samples() && at % kModelRate.value == kModelRate.value / 2;
      out[i] = tick ? static_cast<std::int16_t>(-3276 * (at / kModelRate.value + 1)) : std::int16_t{0};
    }
    return {};
  }
};

}  // namespace

TEST(Peaks, EveryColumnShowsItsLargestAbsoluteSample) {
  const auto peaks = peaks_of(Ticks(), Seconds(2), Seconds(5), 3);
  ASSERT_TRUE(peaks) << peaks.error().text();
  ASSERT_EQ(peaks->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR((*peaks)[i], 0.1 * static_cast<double>(i + 3), 1e-3);
}

TEST(Peaks, BeforeTheStartAndBehindTheEndIsSilence) {
  const auto peaks = peaks_of(Ticks(), Seconds(-1), Seconds(12), 13);
  ASSERT_TRUE(peaks) << peaks.error().text();
  EXPECT_EQ(peaks->front(), 0);
  EXPECT_GT((*peaks)[1], 0);
  EXPECT_EQ(peaks->back(), 0);
}
