// Trainings whose set is packed once: wherever it is kept, they end in the same bits.

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "base/free_port.h"
#include "support/eventually.h"
#include "system/training_runs.h"

using namespace tutti;

namespace fs = std::filesystem;

TEST(DataSet, EveryDataSetResidenceTrainsToEqualBitsAlsoAfterAKill) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder cache, streamed;
  const std::vector<std::string> masks{"--cache", cache.path().string(), "--mask-bands", "1", "--mask-stretches", "1"};
  const auto kept_in = [&](const std::string& where, const std::string& more = "") {
    auto words = masks;
    words.insert(words.end(), {"--data-set", where});
    if (!more.empty()) words.push_back(more);
    return words;
  };
  ASSERT_EQ(run_program(training(streamed.path(), kept_in("stream"))).exit_code, 0);
  for (const char* where : {"memory", "device"}) {
    const TempFolder out;
    const auto end = run_program(training(out.path(), kept_in(where)));
    ASSERT_EQ(end.exit_code, 0) << end.err;
    expect_same(out, streamed);
  }
  const TempFolder parts;
  for (const auto& entry : fs::directory_iterator(cache.path()))
    if (entry.path().extension() == ".setpack") fs::remove(entry.path());
  {
    RunningProgram program(training(parts.path(), kept_in("mapped")));
    ASSERT_TRUE(program.saw("samples into")) << "what the trainings before had packed is gone";
    ASSERT_TRUE(program.saw("step 7/"));
    ASSERT_EQ(::kill(program.pid(), SIGKILL), 0);
    program.wait();
  }
  const auto again = run_program(training(parts.path(), kept_in("mapped", "--resume")));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("samples into"), std::string::npos) << "it is packed already:\n" << again.err;
  EXPECT_EQ(again.err.find("step 1/"), std::string::npos) << "it went on, and did not start again";
  expect_same(parts, streamed);
}

TEST(DataSet, KillWhilePackingResumesToTheSameBits) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder cache, killed, out, streamed;
  const auto packing = [&](const fs::path& folder, const std::string& where) {
    return training(folder, {"--cache", cache.path().string(), "--data-set", where});
  };
  const auto has_begun = [&] {
    for (const auto& entry : fs::directory_iterator(cache.path()))
      if (entry.path().extension() == ".half" || entry.path().extension() == ".setpack") return true;
    return false;
  };
  {
    RunningProgram program(packing(killed.path(), "mapped"));
    eventually(has_begun);  // half of it, or by then all
    ASSERT_EQ(::kill(program.pid(), SIGKILL), 0);
    program.wait();
  }
  const auto end = run_program(packing(out.path(), "mapped"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  for (const auto& entry : fs::directory_iterator(cache.path())) EXPECT_NE(entry.path().extension(), ".half");
  ASSERT_EQ(run_program(packing(streamed.path(), "stream")).exit_code, 0);
  expect_same(out, streamed);
}

TEST(DataSet, ProcessesThatShareNoCachePackEachForItselfAndTrainTogether) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder caches, packed, streamed;
  const auto two_in = [&](const TempFolder& out, const std::string& where) {
    const std::string port = std::to_string(free_port().value());
    std::vector<std::unique_ptr<RunningProgram>> ranks;
    for (const std::string rank : {"0", "1"})
      ranks.push_back(std::make_unique<RunningProgram>(
          training(out.path(), {"--cache", (caches / rank).string(), "--data-set", where, "--max-steps", "4"}),
          std::vector<std::string>{"RANK=" + rank, "WORLD_SIZE=2", "MASTER_PORT=" + port}));
    for (const auto& rank : ranks) {
      const auto end = rank->wait();
      ASSERT_EQ(end.exit_code, 0) << end.err;
      EXPECT_EQ(end.err.find("samples into") != std::string::npos, where == "mapped") << end.err;
    }
  };
  two_in(packed, "mapped");
  two_in(streamed, "stream");
  for (const char* file : {"model/model.safetensors", "order.jsonl"})
    EXPECT_TRUE(read_file(packed / file).value() == read_file(streamed / file).value()) << file;
}

TEST(DataSet, PackedSetIsRefusedWithAudioAugmentation) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(out.path(), {"--cache", (out / "cache").string(), "--data-set", "device",
                                                     "--speed-share", "0.5", "--noise-share", "0.1"}));
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_NE(end.err.find("data-set device, speed-share, noise-share"), std::string::npos) << end.err;
  EXPECT_FALSE(fs::exists(out / "cache"));
}
