#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "audio/vad/speech.h"
#include "base/files.h"

namespace tutti {

/// The lines of a file of tests/data/audio, each as its numbers.
inline std::vector<std::vector<double>> golden_lines(const std::string& name) {
  const auto text = read_file(std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio" / name);
  EXPECT_TRUE(text) << name;
  std::vector<std::vector<double>> lines;
  std::istringstream in(text ? *text : std::string());
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    auto& numbers = lines.emplace_back();
    for (double number = 0; words >> number;) numbers.push_back(number);
  }
  return lines;
}

/// For gtest.
inline void PrintTo(const SpeechPiece& piece, std::ostream* out) {
  *out << '[' << piece.start << ", " << piece.end << (piece.forced_cut ? "!)" : ")");
}

}  // namespace tutti
