#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "support/real_model.h"

namespace tutti {

/// The folder of shared test data, whether it is there or not: $TUTTI_TEST_DATA, else ../shared/data beside the
/// project. Where it is there, the test prints so once: tools/run_tests.py --without-shared-data runs it again without.
inline std::filesystem::path shared_data() {
  static const std::filesystem::path folder = [] {
    const char* named = std::getenv("TUTTI_TEST_DATA");
    std::filesystem::path found = std::filesystem::path(TUTTI_SOURCE_DIR) / "../shared/data";
    if (named && *named) found = named;
    if (std::filesystem::is_directory(found)) std::printf("uses the shared test data: %s\n", found.c_str());
    return found;
  }();
  return folder;
}

/// What the project or its set-up has of the shared data, by the same path; empty where it has nothing. Files are in
/// tests/data/shared (README.md there), vocabularies in data/, the English tokenizer in the fetched model.
inline std::filesystem::path own_copy_of(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  static const fs::path project = TUTTI_SOURCE_DIR;
  static const std::array<std::pair<fs::path, fs::path>, 5> elsewhere{
      {{"tokenizer/gpt2.tiktoken", project / "data/gpt2.tiktoken"},
       {"tokenizer/multilingual.tiktoken", project / "data/multilingual.tiktoken"},
       {"tokenizer/english.json", project / "data/english.json"},
       {"tokenizer/en", real_model()},
       {"tokenizer/en/tokenizer.json", real_model() / "tokenizer.json"}}};
  for (const auto& [name, file] : elsewhere)
    if (path == name) return fs::exists(file) ? file : fs::path();
  const fs::path copy = project / "tests/data/shared" / path;
  const bool is_model_without_weights = path == "whisper-tiny.en";
  return fs::exists(copy) && !is_model_without_weights ? copy : fs::path();
}

/// Test data by path: `test_data() / "vad/speech.wav"` is that file of the shared data, else the project's own copy.
/// Where neither has it, it is the path in the shared data, which does not exist. A folder comes from one of them as a
/// whole.
class TestData {
 public:
  std::filesystem::path operator/(const std::filesystem::path& path) const {
    const std::filesystem::path shared = shared_data() / path;
    if (std::filesystem::exists(shared)) return shared;
    const std::filesystem::path own = own_copy_of(path);
    return own.empty() ? shared : own;
  }
};

inline TestData test_data() {
  return {};
}

}  // namespace tutti

/// Skips the test, by name, where neither the shared test data nor the project has `path`, relative to the data folder.
#define TUTTI_NEEDS(path)                                    \
  if (!std::filesystem::exists(tutti::test_data() / (path))) \
  GTEST_SKIP() << "needs shared test data: " << (path) << " (set TUTTI_TEST_DATA)"
