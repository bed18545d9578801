#include "base/numbers.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(BytesText, HasAsManyDigitsAsAreUseful) {
  EXPECT_EQ(bytes_text({840}), "840 bytes");
  EXPECT_EQ(bytes_text({12'345}), "12 kB");
  EXPECT_EQ(bytes_text({3'440'000}), "3.4 MB");
  EXPECT_EQ(bytes_text({145'262'807}), "145.3 MB") << "base is no tenth of a gigabyte";
  EXPECT_EQ(bytes_text({6'120'000'000}), "6.1 GB");
}

TEST(BytesText, ColumnValuesShareOneUnit) {
  EXPECT_EQ(megabytes_text({1'624'600'000}), "1625 MB");
  EXPECT_EQ(megabytes_text({40'400'000}), "40 MB");
  EXPECT_EQ(gigabytes_text({40'400'000}), "0.0 GB");
}

TEST(FixedText, HasSoManyDigitsBehindThePointHoweverLargeTheNumber) {
  EXPECT_EQ(fixed_text(12.5, 2), "12.50");
  EXPECT_EQ(fixed_text(-0.06, 1), "-0.1");
  EXPECT_EQ(fixed_text(99.9, 0), "100");
  EXPECT_EQ(fixed_text(1e300, 3).size(), 301U + 4) << "nothing is cut off";
}
