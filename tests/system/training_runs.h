#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
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

/// A training that got a signal, and how it ended.
struct StoppedTraining {
  std::unique_ptr<TempFolder> out{};
  ProgramEnd end{};
};

/// Sends `signal` once a training has printed `output`. If the training ends before that on a busy machine, repeats it
/// with another training in a folder of its own.
inline StoppedTraining stopped_by(int signal, const std::string& output, const std::vector<std::string>& more = {}) {
  StoppedTraining last;
  for (int tries = 0; tries < 5 && last.end.exit_code <= 0; ++tries) {
    last.out = std::make_unique<TempFolder>();
    RunningProgram program(training(last.out->path(), more));
    EXPECT_TRUE(program.saw(output));
    EXPECT_EQ(::kill(program.pid(), signal), 0);
    last.end = program.wait();
    if (last.end.exit_code == 0) {
      EXPECT_NE(last.end.err.find("done after step 12"), std::string::npos) << last.end.err;
    }
  }
  return last;
}

/// Both trainings of twelve steps ended in the same bits.
inline void expect_same(const TempFolder& found, const TempFolder& wanted) {
  for (const char* file : {"model/model.safetensors", "order.jsonl", "checkpoints/step-00000012/training.safetensors"})
    EXPECT_TRUE(read_file(found / file).value() == read_file(wanted / file).value()) << file;
}

}  // namespace tutti
