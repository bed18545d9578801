#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {

/// Eight clips in epochs of four steps.
inline std::vector<std::string> training(const std::filesystem::path& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{tutti_program(),
                                 "train",
                                 "whisper",
                                 "--config",
                                 std::string(TUTTI_SOURCE_DIR) + "/recipes/smoke.toml",
                                 "--data",
                                 (test_data() / "speech/ljspeech").string(),
                                 "--out",
                                 out.string(),
                                 "--batch-size",
                                 "2",
                                 "--epochs",
                                 "3",
                                 "--max-steps",
                                 "12",
                                 "--save-steps",
                                 "2",
                                 "--compute-threads",
                                 "1",
                                 "--log-order"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline std::vector<nlohmann::json> lines_of(const std::filesystem::path& path) {
  std::istringstream text(read_file(path).value());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// Both trainings of twelve steps ended in the same bits.
inline void expect_same(const TempFolder& found, const TempFolder& wanted) {
  for (const char* file : {"model/model.safetensors", "order.jsonl", "checkpoints/step-00000012/training.safetensors"})
    EXPECT_TRUE(read_file(found / file).value() == read_file(wanted / file).value()) << file;
}

}  // namespace tutti
