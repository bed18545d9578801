// Training as people run it: from a folder of recordings to a model that transcribes.

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/free_port.h"
#include "base/json.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "system/training_runs.h"

using namespace tutti;

namespace fs = std::filesystem;

TEST(Training, SmokeRecipeMakesAModelThatIsEvaluated) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(out.path()));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto order = lines_of(out / "order.jsonl");
  ASSERT_EQ(order.size(), 12);
  EXPECT_EQ(order[0]["ids"].size(), 2);
  const auto metrics = lines_of(out / "metrics.jsonl");
  EXPECT_LT(metrics.back()["loss"].get<double>(), metrics.front()["loss"].get<double>());
  EXPECT_TRUE(fs::exists(out / "loss.svg"));
  const auto settings = read_file(out / "config.toml").value();
  EXPECT_NE(settings.find("batch-size = 2"), std::string::npos);
  EXPECT_EQ(read_file(out / "checkpoints/step-00000012/training.toml").value(), settings);

  const auto model = (out / "model").string(), data = (test_data() / "speech/ljspeech").string();
  const auto found = run_program({tutti_program(), "transcribe", "--model", model, "-f", "txt", "-o",
                                  out.path().string(), "--temperature", "0", data + "/wavs/LJ001-0002.wav"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const auto checked = run_program({tutti_program(), "evaluate", "--model", model, "--data", data, "--json",
                                    "--samples", "2", "--report", (out / "report.html").string()});
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  const auto result = nlohmann::json::parse(checked.out);
  EXPECT_EQ(result["samples"], 2);
  for (const char* key : {"wer", "cer", "noise_accuracy"}) EXPECT_TRUE(result[key].is_number()) << key;
  EXPECT_TRUE(result["per_condition"].is_object());
  EXPECT_EQ(result["compute_type"], "float32");
  EXPECT_TRUE(fs::exists(out / "report.html"));
  const auto rounded = run_program({tutti_program(), "evaluate", "--model", model, "--data", data, "--json",
                                    "--samples", "2", "--compute-type", "bfloat16"});
  ASSERT_EQ(rounded.exit_code, 0) << rounded.err;
  EXPECT_EQ(nlohmann::json::parse(rounded.out)["compute_type"], "bfloat16");
}

TEST(Training, FormatsReadByFfmpegOnlyAreTrainedOn) {
  TUTTI_NEEDS("formats/sonnet/p001.mp4");
  const TempFolder out;
  std::string lines;
  for (const std::string name : {"p001.ogg", "p001.mp4", "p001.webm", "p001.aac"})
    lines += nlohmann::json{{"id", name}, {"audio", (test_data() / "formats/sonnet" / name).string()}, {"text", "a"}}
                 .dump() +
             "\n";
  ASSERT_TRUE(write_file_atomically(out / "set.jsonl", lines));
  const auto end = run_program(training(out / "train", {"--data", (out / "set.jsonl").string(), "--max-steps", "2"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::set<std::string> learned;
  for (const auto& step : lines_of(out / "train/order.jsonl"))
    for (const auto& id : step["ids"]) learned.insert(id);
  EXPECT_EQ(learned, (std::set<std::string>{"p001.aac", "p001.mp4", "p001.ogg", "p001.webm"}));
  EXPECT_EQ(read_file(out / "train/bad_samples.jsonl").value_or(""), "");
}

TEST(Training, AProcessForEveryDeviceTrainsAsProcessesStartedByHandDo) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder by_hand, by_list;
  {
    const std::string port = std::to_string(free_port().value());
    std::vector<std::unique_ptr<RunningProgram>> ranks;
    for (const std::string rank : {"0", "1"})
      ranks.push_back(std::make_unique<RunningProgram>(
          training(by_hand.path(), {"--max-steps", "4", "--threads", rank == "0" ? "2" : "3"}),
          std::vector<std::string>{"RANK=" + rank, "WORLD_SIZE=2", "MASTER_PORT=" + port}));
    for (const auto& rank : ranks) {
      const auto end = rank->wait();
      ASSERT_EQ(end.exit_code, 0) << end.err;
    }
  }
  EXPECT_NE(read_file(by_hand / "config.toml").value().find("\nthreads = 2\n"), std::string::npos)
      << "the first one's settings are kept";
  const auto end = run_program(training(by_list.path(), {"--max-steps", "4", "--devices", "cpu:0,cpu:1"}),
                               {"SLURM_NTASKS=1", "SLURM_PROCID=0"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  for (const char* file : {"model/model.safetensors", "order.jsonl"})
    EXPECT_TRUE(read_file(by_list / file).value() == read_file(by_hand / file).value()) << file;
  const auto alone = run_program(training(by_list.path(), {"--resume", "--max-steps", "6", "--devices", ""}));
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("trained by 2 processes"), std::string::npos) << alone.err;
}

TEST(Training, SignalCheckpointsAndStopsAllRanksAndDeathEndsThem) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const std::vector<std::string> two{"--devices", "cpu:0,cpu:1", "--max-steps", "100000", "--epochs", "100000"};
  {
    RunningProgram program(training(out.path(), two));
    ASSERT_TRUE(program.saw("step 2/"));
    ASSERT_EQ(::kill(program.pid(), SIGTERM), 0);
    const auto end = program.wait();
    EXPECT_EQ(end.exit_code, 130) << end.err;
  }
  EXPECT_FALSE(fs::is_empty(out / "checkpoints"));
  RunningProgram program(training(out.path(), [&] {
    auto again = two;
    again.emplace_back("--resume");
    return again;
  }()));
  ASSERT_TRUE(program.saw("step 5/"));
  const auto engines = children_of(program.pid(), "tutti-engine");
  ASSERT_EQ(engines.size(), 2U);
  const auto first = handle_of(engines[0]);
  ASSERT_EQ(::kill(engines[1], SIGKILL), 0);
  const auto end = program.wait();
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_NE(end.err.find("checkpoints"), std::string::npos) << end.err;
  EXPECT_TRUE(has_ended(first, std::chrono::seconds(5)));
}

TEST(Training, FlagsOfFieldNoteFourTakeEffect) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto data = (test_data() / "speech/ljspeech").string();
  std::vector<std::string> words{tutti_program(), "train", "whisper", "--data_dir", data, "--eval_data", data};
  std::istringstream flags(
      "--batch_size 2 --gradient_accumulation_steps 2 --learning_rate 1e-3 --warmup_steps 4 "
      "--num_epochs 2 --max_steps 0 --save_steps 1 --eval_steps 2 --eval_samples 1 "
      "--logging_steps 2 --bf16 --max_samples 6 --dataloader_num_workers 3 --use_chunking "
      "--chunk_strategy random --log_order --output_dir " +
      out.path().string() + " --config " TUTTI_SOURCE_DIR "/recipes/smoke.toml");
  for (std::string word; flags >> word;) words.push_back(word);
  const auto end = run_program(words);
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::vector<std::size_t> sizes;
  std::set<std::string> learned;
  for (const auto& step : lines_of(out / "order.jsonl")) {
    sizes.push_back(step["ids"].size());
    for (const auto& id : step["ids"]) learned.insert(id);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 2, 4, 2})) << "two batches of two make a step, six samples an epoch";
  EXPECT_EQ(*learned.rbegin(), "LJ001-0006");
  std::vector<std::int64_t> logged, checked;
  const auto metrics = lines_of(out / "metrics.jsonl");
  for (const auto& line : metrics) (line.contains("loss") ? logged : checked).push_back(line["step"]);
  EXPECT_EQ(logged, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(checked, logged);
  EXPECT_DOUBLE_EQ(metrics[0]["rate"].get<double>(), 5e-4) << "half-way through the warm-up";
  EXPECT_TRUE(fs::exists(out / "checkpoints/step-00000003")) << "and no older one, of two that are kept";
  EXPECT_FALSE(fs::exists(out / "checkpoints/step-00000001"));
  const auto used = read_file(out / "config.toml").value();
  for (const char* line : {"precision = 'bfloat16'", "threads = 3", "chunk-strategy = 'random'"})
    EXPECT_NE(used.find(line), std::string::npos) << line << " in\n" << used;
}

TEST(Training, KilledInMidEpochAndResumedItEndsInTheSameBits) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole;
  ASSERT_EQ(run_program(training(whole.path())).exit_code, 0);
  const auto killed = stopped_by(SIGKILL, "step 7/");
  const TempFolder& parts = *killed.out;
  ASSERT_EQ(killed.end.exit_code, 128 + SIGKILL);
  const auto again = run_program(training(parts.path(), {"--resume", "--threads", "5"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("step 1/"), std::string::npos) << "it went on, and did not start again";
  expect_same(parts, whole);
}

TEST(Training, DeviceFeaturesTrainAlikeAndResumeToTheSameBits) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder by_feed, whole;
  ASSERT_EQ(run_program(training(by_feed.path())).exit_code, 0);
  ASSERT_EQ(run_program(training(whole.path(), {"--data-gpu", "cpu"})).exit_code, 0);
  const auto expected = lines_of(by_feed / "metrics.jsonl"), found = lines_of(whole / "metrics.jsonl");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!expected[i].contains("loss")) continue;
    EXPECT_NEAR(found[i]["loss"].get<double>(), expected[i]["loss"].get<double>(), 1e-3) << "line " << i;
  }
  const auto killed = stopped_by(SIGKILL, "step 7/", {"--data-gpu", "cpu"});
  const TempFolder& parts = *killed.out;
  ASSERT_EQ(killed.end.exit_code, 128 + SIGKILL);
  const auto again = run_program(training(parts.path(), {"--data-gpu", "cpu", "--resume", "--threads", "5"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_same(parts, whole);
}

TEST(Training, AScheduleMayBeLongerThanTheTraining) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole, part;
  const std::vector<std::string> falls{"--learning-rate", "1e-3",   "--warmup-steps", "0",
                                       "--schedule",      "linear", "--log-steps",    "1"};
  auto longer = falls;
  longer.insert(longer.end(), {"--schedule-steps", "24"});
  ASSERT_EQ(run_program(training(whole.path(), falls)).exit_code, 0);
  ASSERT_EQ(run_program(training(part.path(), longer)).exit_code, 0);
  const auto rate_of = [](const TempFolder& out, int step) {
    for (const auto& line : lines_of(out / "metrics.jsonl"))
      if (line["step"] == step && line.contains("rate")) return line["rate"].get<double>();
    return 0.0;
  };
  EXPECT_NEAR(rate_of(whole, 12), 1e-3 / 12, 1e-6);
  EXPECT_NEAR(rate_of(part, 12), 1e-3 * 13 / 24, 1e-6);
}

TEST(Training, RateDecaysOverAllStepsWithAudioLimitedBatches) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(training(
      out.path(), {"--batch-size", "8", "--batch-seconds", "10", "--epochs", "2", "--max-steps", "0", "--log-steps",
                   "1", "--learning-rate", "1e-4", "--warmup-steps", "0", "--schedule", "linear"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::vector<double> rates;
  for (const auto& line : lines_of(out / "metrics.jsonl"))
    if (line.contains("rate")) rates.push_back(line["rate"].get<double>());
  ASSERT_GT(rates.size(), 4U) << "full batches would make two steps";
  for (const double rate : rates) EXPECT_GT(rate, 0);
  EXPECT_LT(rates.back(), 0.5 * rates.front());
}

TEST(Training, EpochsEndingBeforeStepsWarnHowToContinue) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto short_one = run_program(training(out.path(), {"--epochs", "1", "--max-steps", "6"}));
  ASSERT_EQ(short_one.exit_code, 0) << short_one.err;
  EXPECT_EQ(lines_of(out / "order.jsonl").size(), 4U);
  EXPECT_NE(short_one.err.find("epochs 1 were over after 4 steps, before max-steps 6"), std::string::npos)
      << short_one.err;
  const auto whole =
      run_program({tutti_program(), "train", "whisper", "--out", out.path().string(), "--resume", "--epochs", "0"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(lines_of(out / "order.jsonl").size(), 6U);
  EXPECT_EQ(whole.err.find("before max-steps"), std::string::npos) << whole.err;
}

TEST(Training, WhereTimeEndsItTheTimeLeftIsThatTime) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(
      training(out.path(), {"--max-minutes", "0.1", "--max-steps", "1000000", "--epochs", "0", "--log-steps", "1"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("| 0:0"), std::string::npos) << end.err.substr(0, 2000);
  static const std::regex hours(R"(\d+:\d\d:\d\d left)");
  EXPECT_FALSE(std::regex_search(end.err, hours)) << "it ends in six seconds";
}

TEST(Training, SignalStopsAfterACheckpointAndResumeContinues) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole;
  ASSERT_EQ(run_program(training(whole.path())).exit_code, 0);
  const auto stopped = stopped_by(SIGTERM, "step 2/", {"--save-steps", "0"});
  const TempFolder& parts = *stopped.out;
  ASSERT_EQ(stopped.end.exit_code, 130) << stopped.end.err;
  EXPECT_NE(stopped.end.err.find("--resume"), std::string::npos) << stopped.end.err;
  EXPECT_FALSE(fs::is_empty(parts / "checkpoints"));
  ASSERT_EQ(run_program(training(parts.path(), {"--resume"})).exit_code, 0);
  expect_same(parts, whole);
}

TEST(Training, DamagedCheckpointFallsBackToThePreviousOne) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder whole, parts;
  ASSERT_EQ(run_program(training(whole.path())).exit_code, 0);
  ASSERT_EQ(run_program(training(parts.path())).exit_code, 0);
  const auto last = parts / "checkpoints/step-00000012";
  auto tensors = read_file(last / "training.safetensors").value();
  tensors[tensors.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomically(last / "training.safetensors", tensors));
  const auto end = run_program(training(parts.path(), {"--resume"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("goes on from step-00000010"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("step-00000012/training.safetensors: damaged"), std::string::npos) << end.err;
  expect_same(parts, whole);
}

TEST(Training, MostlyUnusableSetIsEvaluatedAndCountsBadSamples) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto audio = (test_data() / "speech/ljspeech/wavs/LJ001-0002.wav").string();
  std::string lines = nlohmann::json{{"audio", audio}, {"text", "in being comparatively modern"}}.dump() + "\n";
  for (int i = 0; i < 250; ++i)
    lines += nlohmann::json{{"audio", "nowhere-" + std::to_string(i) + ".wav"}, {"text", "one"}}.dump() + "\n";
  ASSERT_TRUE(write_file_atomically(out / "set.jsonl", lines));
  const auto checked =
      run_program({tutti_program(), "evaluate", "--model", std::string(TUTTI_SOURCE_DIR) + "/models/nano", "--data",
                   (out / "set.jsonl").string(), "--json"});
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  const auto result = nlohmann::json::parse(checked.out);
  EXPECT_EQ(result["samples"], 1);
  EXPECT_EQ(result["bad_samples"], 250);
}

TEST(Training, StoredNetworksShapeIsReportedAndSaved) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const auto end = run_program(
      training(out.path(), {"--model", TUTTI_SOURCE_DIR "/models/nano", "--window-seconds", "10", "--max-steps", "1"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("this was requested and does nothing"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("window-seconds 10 (it has 30)"), std::string::npos) << end.err;
  const auto used = read_file(out / "config.toml").value();
  for (const char* line : {"\nwidth = 128\n", "\nwindow-seconds = 30.0\n", "\ntext-context = 192\n"})
    EXPECT_NE(used.find(line), std::string::npos) << line << " in\n" << used;
  EXPECT_NE(end.out.find("\nwidth = 128\n"), std::string::npos) << end.out;
  EXPECT_EQ(read_file(out / "checkpoints/step-00000001/training.toml").value(), used);
  const auto again = run_program({tutti_program(), "train", "whisper", "--out", out.path().string(), "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("(it has"), std::string::npos) << again.err;
}
