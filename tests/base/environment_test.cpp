#include "base/environment.h"

#include <gtest/gtest.h>

#include "support/environment.h"

namespace tutti {
namespace {

constexpr const char* kName = "TUTTI_TEST_LOG_LEVEL";

TEST(LogLevelVariable, IsOneOfFourWordsInAnyCase) {
  const std::pair<const char*, LogDetail> kWords[] = {{"DEBUG", LogDetail::debug},
                                                      {"info", LogDetail::info},
                                                      {"Warning", LogDetail::warning},
                                                      {"ERROR", LogDetail::error}};
  for (const auto& [word, detail] : kWords) {
    const ScopedVariable set(kName, word);
    EXPECT_EQ(log_level_variable(kName).value(), detail) << word;
  }
}

TEST(LogLevelVariable, UnsetOrEmptyIsInfo) {
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const ScopedVariable set(kName, value);
    EXPECT_EQ(log_level_variable(kName).value(), LogDetail::info);
  }
}

TEST(LogLevelVariable, OtherWordIsRefusedWithItsName) {
  const ScopedVariable set(kName, "loud");
  const auto detail = log_level_variable(kName);
  ASSERT_FALSE(detail);
  EXPECT_EQ(detail.error().fault, Fault::usage);
  EXPECT_NE(detail.error().text().find(kName), std::string::npos);
  EXPECT_NE(detail.error().text().find("'loud'"), std::string::npos);
}

}  // namespace
}  // namespace tutti
