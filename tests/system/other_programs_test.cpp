// What is trained here, loaded in the programs it is for: Hugging Face transformers and openai-whisper.

#include <gtest/gtest.h>

#include "base/environment.h"
#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "system/training_runs.h"

using namespace tutti;

namespace fs = std::filesystem;

namespace {

ProgramEnd elsewhere(const std::string& python, std::vector<std::string> words) {
  words.insert(words.begin(), {python, TUTTI_SOURCE_DIR "/tests/system/load_elsewhere.py"});
  return run_program(words, {"HF_HUB_OFFLINE=1", "CUDA_VISIBLE_DEVICES="});
}

/// A Python that has both programs: the one that is named, which has to, or that of `make peers`; empty: there is none.
std::string python_with_peers() {
  if (const auto named = variable("TUTTI_PEERS_PYTHON")) return *named;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache_folder() / "peers", ignored)) {
    if (!fs::exists(entry.path() / "complete", ignored)) continue;
    const auto python = (entry.path() / "bin/python").string();
    if (elsewhere(python, {"there"}).exit_code == 0) return python;
  }
  return {};
}

/// Of the last line, behind what the programs say of themselves.
nlohmann::json answer_of(const ProgramEnd& end) {
  const auto text = end.out.substr(0, end.out.find_last_not_of('\n') + 1);
  const auto last = text.rfind('\n');
  return nlohmann::json::parse(text.substr(last == std::string::npos ? 0 : last + 1), nullptr, false);
}

}  // namespace

// "another program" is what tools/run_tests.py knows such a skip by.
#define TUTTI_NEEDS_PEERS(python)                                                                             \
  if ((python).empty())                                                                                       \
  GTEST_SKIP() << "another program: needs a Python with transformers and openai-whisper; 'make peers' makes " \
                  "one, or name yours with TUTTI_PEERS_PYTHON"

TEST(OtherPrograms, TransformersGivesTheSameTextWithTheShippedModel) {
  const auto python = python_with_peers();
  TUTTI_NEEDS_PEERS(python);
  const TempFolder folder;
  const std::string model = TUTTI_SOURCE_DIR "/models/nano", corpus = (folder / "corpus").string();
  ASSERT_EQ(run_program({tutti_program(), "synth", "morse", "--count", "2", "--seed", "3", "--condition", "clean",
                         "--noise-share", "0", "--longest", "6", "--out", corpus})
                .exit_code,
            0);
  const auto clip = corpus + "/audio/morse_000000.wav";
  const auto here = run_program({tutti_program(), "transcribe", "--model", model, "--language", "en", "-f", "txt", "-o",
                                 folder.path().string(), "-q", clip});
  ASSERT_EQ(here.exit_code, 0) << here.err;
  const auto end = elsewhere(python, {"transcribed", model, clip});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  auto written = read_file(folder / "morse_000000.txt").value();
  written.erase(written.find_last_not_of('\n') + 1);
  EXPECT_FALSE(written.empty());
  EXPECT_EQ(answer_of(end)["text"], written);
}

TEST(OtherPrograms, TrainedNetworkHasEqualLogitsInOpenaiWhisper) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const auto python = python_with_peers();
  TUTTI_NEEDS_PEERS(python);
  const TempFolder out;
  const auto trained = run_program(training(out.path(), {"--vocabulary", "english", "--text-context", "448",
                                                         "--export-type", "float32", "--max-steps", "2"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto model = (out / "model").string(), checkpoint = (out / "net.pt").string();
  const auto converted = run_program({tutti_program(), "convert", model, "-o", checkpoint});
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  const auto end = elsewhere(python, {"compared", model, checkpoint});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto found = answer_of(end);
  EXPECT_GT(found["largest"].get<double>(), 0.05) << "a network with flat logits agrees with any";
  EXPECT_LT(found["difference"].get<double>(), 1e-2 * found["largest"].get<double>()) << "the .pt is in float16";
}

/// examples/classifier.py, for who wants to go on with the network in PyTorch.
TEST(OtherPrograms, ScriptInPyTorchHasOurScores) {
  const auto python = python_with_peers();
  TUTTI_NEEDS_PEERS(python);
  const TempFolder folder;
  const std::string model = TUTTI_SOURCE_DIR "/models/leaks";
  ASSERT_EQ(
      run_program({tutti_program(), "synth", "leaks", "--count", "1", "--out", (folder / "leaks").string()}).exit_code,
      0);
  std::string clip;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "leaks"))
    if (entry.path().extension() == ".wav") clip = entry.path().string();
  const auto here = run_program({tutti_program(), "classify", "--model", model, "--json", clip});
  ASSERT_EQ(here.exit_code, 0) << here.err;
  const auto there = run_program({python, TUTTI_SOURCE_DIR "/examples/classifier.py", model, clip});
  ASSERT_EQ(there.exit_code, 0) << there.err;
  const auto ours = answer_of(here)["scores"], theirs = answer_of(there)["scores"];
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [label, score] : ours.items())
    EXPECT_NEAR(theirs[label].get<double>(), score.get<double>(), 1e-5) << label;
}
