#pragma once

#include <gtest/gtest.h>

#include <string>

namespace tutti {

/// Expects `part` in a program's output, and shows all of the output where it is missing.
inline void expect_output(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << text;
}

}  // namespace tutti
