#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace tutti {

/// The shared test data: $TUTTI_TEST_DATA, else ../shared/data beside the project.
inline std::filesystem::path test_data() {
  if (const char* named = std::getenv("TUTTI_TEST_DATA"); named && *named) return named;
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "../shared/data";
}

}  // namespace tutti

/// Skips the test, by name, where shared test data is absent. `path` is relative to the data folder.
#define TUTTI_NEEDS(path)                                    \
  if (!std::filesystem::exists(tutti::test_data() / (path))) \
  GTEST_SKIP() << "needs shared test data: " << (path) << " (set TUTTI_TEST_DATA)"
