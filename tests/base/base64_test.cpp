#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

TEST(Base64, EncodesTheVectorsOfTheStandard) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
}

TEST(Base64, DecodesEveryByteAsItWas) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(base64_decoded(base64_of(bytes.substr(0, size))), bytes.substr(0, size));
}

TEST(Base64, DecodesWithoutPaddingAndPaddingAlone) {
  EXPECT_EQ(base64_decoded("Zm8"), "fo");
  EXPECT_EQ(base64_decoded("="), "");
}

TEST(Base64, RefusesOtherTexts) {
  EXPECT_EQ(base64_decoded("Zm9v YmFy"), std::nullopt);
  EXPECT_EQ(base64_decoded("?"), std::nullopt);
  EXPECT_EQ(base64_decoded("Zm9vY"), std::nullopt) << "one digit is no byte";
}

}  // namespace
}  // namespace tutti
