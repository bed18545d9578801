#pragma once

#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"

namespace tutti {

namespace fs = std::filesystem;
using nlohmann::json;

inline const std::string kTutti = TUTTI_BINARY_DIR "/bin/tutti";

/// Runs `tutti batch` on ten recordings of its own.
class BatchTest : public testing::Test {
 protected:
  static constexpr int kRecordings = 10;  // 110 s of them

  void SetUp() override {
    fs::create_directories(in_ / "talks");
    for (int i = 0; i < kRecordings; ++i) write_tone(recording(i), 3 + 4 * (i % 5), 200 + 20 * i);
  }

  fs::path recording(int number) const {
    return in_ / (number % 2 ? "talks" : "") / ("r" + std::to_string(number) + ".wav");
  }

  fs::path devices(const std::string& content) const {
    EXPECT_TRUE(write_file_atomically(folder_ / "devices.toml", content));
    return folder_ / "devices.toml";
  }

  std::vector<std::string> words(const std::string& devices, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{kTutti,
                                 "batch",
                                 in_.string(),
                                 "--output-dir",
                                 (folder_ / "out").string(),
                                 "--state",
                                 (folder_ / "state").string(),
                                 "--report",
                                 (folder_ / "report.json").string(),
                                 "--devices",
                                 devices,
                                 "--vad-method",
                                 "energy",
                                 "-f",
                                 "json",
                                 "--yes"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  ProgramEnd batch(const std::string& devices, std::vector<std::string> more = {}) const {
    return run_program(words(devices, std::move(more)), settings());
  }

  /// Sockets and settings of this test alone.
  std::vector<std::string> settings() const {
    const std::string here = folder_.path().string();
    return {"XDG_RUNTIME_DIR=" + here, "XDG_CONFIG_HOME=" + here, "TUTTI_CACHE=" + here + "/cache"};
  }

  json report() const { return json::parse(read_file(folder_ / "report.json").value()); }

  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out"))
      if (entry.is_regular_file())
        all[entry.path().lexically_relative(folder_ / "out")] = read_file(entry.path()).value();
    return all;
  }

  TempFolder folder_;
  const fs::path in_ = folder_ / "in";
};

}  // namespace tutti
