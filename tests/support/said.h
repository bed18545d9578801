#pragma once

#include <gtest/gtest.h>

#include <string>

namespace tutti {

/// Expects `part` in what a program said, and shows all of it where it is not there.
inline void expect_output(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << text;
}

}  // namespace tutti
