// The shipped models: their training data, their sizes, and their error rates.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

fs::path shipped() {
  return fs::path(TUTTI_SOURCE_DIR) / "models/nano";
}

/// Reads Morse off the air.
fs::path shipped_morse() {
  return fs::path(TUTTI_SOURCE_DIR) / "models/morse";
}

fs::path shipped_classifier() {
  return fs::path(TUTTI_SOURCE_DIR) / "models/leaks";
}

/// Recordings 0 to 4 of every speaker and digit are held out: "7_theo_3.wav".
bool is_held_out(const fs::path& recording) {
  const auto name = recording.stem().string();
  return std::stoi(name.substr(name.rfind('_') + 1)) < 5;
}

std::uintmax_t bytes_in(const fs::path& model) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(model))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

std::string digest_of(const fs::path& file) {
  const auto content = read_file(file).value();
  Sha256 sha;
  sha.update(std::as_bytes(std::span(content)));
  return sha.hex();
}

nlohmann::json evaluated(const fs::path& data) {
  const auto end = run_program({tutti_program(), "evaluate", "--model", shipped().string(), "--data", data.string(),
                                "--normaliser", "none", "--json"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return nlohmann::json::parse(end.out);
}

}  // namespace

TEST(ShippedModel, TakesEightMegabytesAtMost) {
  EXPECT_LE(bytes_in(shipped()), 8'000'000U);
  EXPECT_LE(bytes_in(shipped_morse()), 8'000'000U);
}

TEST(ShippedModel, WasNotTrainedOnItsEvaluationRecordings) {
  TUTTI_NEEDS("digits/0_george_0.wav");
  std::istringstream lines(read_file(shipped() / "recordings.sha256").value());
  std::set<std::string> learned;
  for (std::string line; std::getline(lines, line);) learned.insert(line.substr(0, line.find(' ')));
  std::size_t held_out = 0;
  for (const auto& entry : fs::directory_iterator(test_data() / "digits")) {
    if (entry.path().extension() != ".wav") continue;
    const bool was_learned = learned.erase(digest_of(entry.path())) > 0;
    if (!is_held_out(entry.path())) continue;
    ++held_out;
    EXPECT_FALSE(was_learned) << entry.path();
  }
  EXPECT_EQ(held_out, 300U);
  EXPECT_TRUE(learned.empty()) << learned.size() << " recordings were learned that the set does not hold";
}

TEST(ShippedClassifier, TakesThreeMegabytesAtMost) {
  EXPECT_LE(bytes_in(shipped_classifier()), 3'000'000U);
}

TEST(ShippedClassifier, NamesMadePipesThatItHasNotLearned) {
  const TempFolder work;
  const auto made =
      run_program({tutti_program(), "synth", "leaks", "--count", "25", "--seed", "4711", "--sensors", "5",
                   "--condition", "good", "--out-of-water-share", "0", "--out", (work / "pipes").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto end = run_program(
      {tutti_program(), "classify", "--model", shipped_classifier().string(), "--json", (work / "pipes").string()});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::istringstream lines(end.out);
  int right = 0, all = 0;
  for (std::string line; std::getline(lines, line); ++all) {
    const auto answer = nlohmann::json::parse(line);
    right += answer["label"] == fs::path(answer["file"].get<std::string>()).parent_path().filename().string();
  }
  EXPECT_EQ(all, 25);
  EXPECT_GE(right, 20);
}

TEST(ShippedModelLong, ReadsStringsOfHeldOutDigits) {
  TUTTI_NEEDS("digits/0_george_0.wav");
  const TempFolder work;
  const auto made =
      run_program({"/usr/bin/env", "python3", std::string(TUTTI_SOURCE_DIR) + "/recipes/nano.py", work.path().string(),
                   "--digits", (test_data() / "digits").string(), "--held-out-only"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto found = evaluated(work / "held-out.jsonl");
  EXPECT_EQ(found["samples"], 500);
  EXPECT_LE(found["wer"].get<double>(), 0.03);
}

TEST(ShippedModel, TranscribesMorseInGoodConditions) {
  const TempFolder work;
  const auto made = run_program({tutti_program(), "synth", "morse", "--count", "200", "--seed", "77", "--condition",
                                 "good", "--out", (work / "morse").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto found = evaluated(work / "morse");
  EXPECT_EQ(found["samples"], 200);
  EXPECT_LE(found["cer"].get<double>(), 0.02);
}

TEST(ShippedModel, TranscribesForeignMorseRecordings) {
  TUTTI_NEEDS("morse/texts.json");
  const TempFolder work;
  const auto known = nlohmann::json::parse(read_file(test_data() / "morse/texts.json").value());
  std::string lines;
  std::size_t count = 0;
  for (const auto& [name, facts] : known.items()) {
    const auto recording = test_data() / ("morse/" + name);
    if (!facts["text"].is_string() || !fs::exists(recording)) continue;
    lines += nlohmann::json{{"audio", recording.string()}, {"text", facts["text"]}}.dump() + "\n";
    ++count;
  }
  ASSERT_GE(count, fs::exists(shared_data() / "morse") ? 6U : 5U);
  ASSERT_TRUE(write_file_atomically(work / "morse.jsonl", lines));
  const auto found = evaluated(work / "morse.jsonl");
  EXPECT_EQ(found["samples"], count);
  EXPECT_LE(found["cer"].get<double>(), 0.10);
}

TEST(ShippedMorse, ReadsForeignRecordingsWithoutFurtherFlags) {
  TUTTI_NEEDS("morse/texts.json");
  const TempFolder work;
  const auto known = nlohmann::json::parse(read_file(test_data() / "morse/texts.json").value());
  std::vector<std::string> words{tutti_program(),   "transcribe", "--model",      shipped_morse().string(),
                                 "--output-format", "txt",        "--output-dir", work.path().string()};
  std::vector<fs::path> recordings;
  std::string sent, found;
  for (const auto& [name, facts] : known.items()) {
    const auto recording = test_data() / ("morse/" + name);
    if (!facts["text"].is_string() || !fs::exists(recording)) continue;
    recordings.push_back(recording);
    words.push_back(recording.string());
    sent += facts["text"].get<std::string>() + "\n";
  }
  ASSERT_GE(recordings.size(), 5U);
  const auto read = run_program(words);
  ASSERT_EQ(read.exit_code, 0) << read.err;
  for (const auto& recording : recordings) found += read_file(work / (recording.stem().string() + ".txt")).value_or("");
  ASSERT_TRUE(write_file_atomically(work / "sent", sent) && write_file_atomically(work / "found", found));
  const auto scored = run_program({tutti_program(), "wer", "--json", "--normalizer", "none", "--ref",
                                   (work / "sent").string(), "--hyp", (work / "found").string()});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_LE(nlohmann::json::parse(scored.out)["cer"].get<double>(), 0.05) << found;
}
