// A voice that is trained on two devices, which are cores here.

#include <gtest/gtest.h>
#include <sched.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "support/temp_folder.h"
#include "system/voice_runs.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// "cpu:N" of this process's first and last core, which are one where it has one.
std::vector<std::string> two_cores() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::string first, last;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    last = "cpu:" + std::to_string(core);
    if (first.empty()) first = last;
  }
  return {first, last};
}

/// A set of digits by theo with waveforms, made once.
const fs::path& digits() {
  static const TempFolder work;
  static const fs::path set = [] {
    put_digits(work / "data", "theo", 2);
    const auto end = prepare_voice(work / "data", work / "set", {"--waveforms"});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    EXPECT_NE(end.out.find("of waveforms"), std::string::npos) << end.out;
    return work.path() / "set";
  }();
  return set;
}

std::vector<std::string> on_two_devices(const fs::path& set, const fs::path& out, std::vector<std::string> more) {
  const auto cores = two_cores();
  more.insert(more.end(), {"--data-gpu", cores[0], "--model-gpu", cores[1]});
  return training_of(set, out, more);
}

std::string bytes(const fs::path& file) {
  return read_file(file).value();
}

}  // namespace

TEST(TwoDevices, KilledTrainingWithChangedClipsResumesToTheSameBits) {
  const TempFolder work;
  const std::vector<std::string> steps{"--epochs",     "4",   "--max-steps",    "0",   "--save-steps",  "3",
                                       "--eval-steps", "5",   "--speed-share",  "0.5", "--noise-share", "0.5",
                                       "--room-share", "0.5", "--static-shapes"};
  const auto whole = run_program(on_two_devices(digits(), work / "whole", steps));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  {
    RunningProgram killed(on_two_devices(digits(), work / "killed", steps));
    ASSERT_TRUE(killed.saw("epoch 2:"));
    ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
    ASSERT_EQ(killed.wait().exit_code, 128 + SIGKILL);
  }
  const auto resumed = run_program({tutti_program(), "train", "tts", "--out", (work / "killed").string(), "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(bytes(work / "whole/model/model.safetensors") == bytes(work / "killed/model/model.safetensors"));
  for (const char* epoch : {"epoch 2: ", "epoch 3: ", "epoch 4: "}) {
    const auto line = whole.err.substr(whole.err.find(epoch));
    EXPECT_NE(line.substr(0, line.find('\n')).find(", none of them new"), std::string::npos) << line;
  }
  std::int64_t new_shapes = 0, shapes = 0;
  std::istringstream lines(bytes(work / "whole/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    if (!json.contains("shapes")) continue;
    shapes = json["shapes"].get<std::int64_t>();
    new_shapes += json["new_shapes"].get<std::int64_t>();
  }
  EXPECT_GT(shapes, 0);
  EXPECT_EQ(new_shapes, shapes);
}

TEST(TwoDevices, RelayingDeviceIsReportedAndChangesNothing) {
  const TempFolder work;
  fs::create_directories(work / "set");
  fs::copy(digits() / "voice.set", work / "set/voice.set");
  const std::vector<std::string> steps{"--max-steps", "5"};
  const auto relayed = run_program(on_two_devices(work / "set", work / "relayed", steps));
  ASSERT_EQ(relayed.exit_code, 0) << relayed.err;
  EXPECT_NE(relayed.err.find("a detour"), std::string::npos) << relayed.err;
  ASSERT_EQ(run_program(training_of(work / "set", work / "plain", steps)).exit_code, 0);
  EXPECT_TRUE(bytes(work / "plain/model/model.safetensors") == bytes(work / "relayed/model/model.safetensors"));
  const auto changed = run_program(on_two_devices(work / "set", work / "changed", {"--noise-share", "0.5"}));
  EXPECT_EQ(changed.exit_code, 4) << changed.err;
  EXPECT_NE(changed.err.find("expected the waveforms of the set, found no file"), std::string::npos) << changed.err;
}

TEST(TwoDevices, WhatCannotBeIsRefusedWithWhatThereIs) {
  const TempFolder work;
  const auto core = run_program(training_of(digits(), work / "core", {"--data-gpu", "cpu:1000"}));
  EXPECT_EQ(core.exit_code, 4) << core.err;
  EXPECT_NE(core.err.find("has no core 1000, but these: "), std::string::npos) << core.err;
  const auto gpu = run_program(training_of(digits(), work / "gpu", {"--data-gpu", "31"}));
  EXPECT_EQ(gpu.exit_code, 4) << gpu.err;
  EXPECT_NE(gpu.err.find("data-gpu: device cuda:31: this engine sees"), std::string::npos) << gpu.err;
  const auto name = run_program(training_of(digits(), work / "name", {"--data-gpu", "cpu:x"}));
  EXPECT_EQ(name.exit_code, 2) << name.err;
  const auto little = run_program(on_two_devices(digits(), work / "little", {"--data-gpu-memory", "0.5"}));
  EXPECT_EQ(little.exit_code, 2) << little.err;
  EXPECT_NE(little.err.find("data-gpu-memory: 500 kB hold no training: its largest batch takes "), std::string::npos)
      << little.err;
}

TEST(TwoDevices, LimitsThatAreNamedAreEnoughForTheTraining) {
  const TempFolder work;
  const auto little = run_program(on_two_devices(digits(), work / "little", {"--data-gpu-memory", "0.5"}));
  const std::string known = "largest batch takes ";
  const auto at = little.err.find(known);
  ASSERT_NE(at, std::string::npos) << little.err;
  const auto need = little.err.substr(at + known.size(), little.err.find(' ', at + known.size()) - at - known.size());
  const auto end =
      run_program(on_two_devices(digits(), work / "enough", {"--data-gpu-memory", need, "--max-steps", "12"}));
  EXPECT_EQ(end.exit_code, 0) << need << '\n' << end.err;
}
