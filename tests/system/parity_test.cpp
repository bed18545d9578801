// The program's output against that of openai-whisper 20250625 for the same audio and weights (float32, CPU).

#include <gtest/gtest.h>

#include <cstdio>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

Json read_json(const std::filesystem::path& path) {
  return Json::parse(read_file(path).value());
}

struct WholeRun {
  std::map<std::string, Json> transcripts;  // by file name
  std::size_t steps = 0;
  std::size_t narrow = 0;
};

/// One command over all `paths`, outputs named by path so that equal stems may meet.
WholeRun transcribe(const std::vector<std::string>& paths, const std::vector<std::string>& flags,
                    const std::string& model = hugging_face_model()) {
  const TempFolder out;
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 model,
                                 "--compute-type",
                                 "float32",
                                 "--language",
                                 "en",
                                 "--json",
                                 "--name-by",
                                 "path",
                                 "--output-dir",
                                 out.path().string(),
                                 "--output-format",
                                 "json"};
  words.insert(words.end(), flags.begin(), flags.end());
  for (const auto& path : paths) words.push_back((test_data() / path).string());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  WholeRun run;
  std::istringstream lines(end.out);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    if (event["event"] == "summary") {
      run.steps = event["decoder_steps"];
      run.narrow = event["narrow_margins"];
    }
    if (event["event"] == "done") run.transcripts[event["file"]] = read_json(std::string(event["outputs"][0]));
  }
  return run;
}

void expect_near(const Json& ours, const Json& theirs, const char* key, double tolerance) {
  EXPECT_NEAR(ours[key].get<double>(), theirs[key].get<double>(), tolerance) << key;
}

void expect_equal_segments(const Json& ours, const Json& theirs) {
  EXPECT_EQ(ours["text"], theirs["text"]);
  ASSERT_EQ(ours["segments"].size(), theirs["segments"].size());
  for (std::size_t i = 0; i < theirs["segments"].size(); ++i) {
    SCOPED_TRACE("segment " + std::to_string(i));
    const Json& a = ours["segments"][i];
    const Json& b = theirs["segments"][i];
    for (const char* key : {"seek", "text", "tokens", "temperature"}) EXPECT_EQ(a[key], b[key]) << key;
    // The clips with word times had their edges moved to the words; their timestamp tokens are compared all the same.
    if (!b.contains("words"))
      for (const char* key : {"start", "end"}) expect_near(a, b, key, 1e-9);
    expect_near(a, b, "compression_ratio", 1e-9);
    for (const char* key : {"avg_logprob", "no_speech_prob"}) expect_near(a, b, key, 1e-3);
  }
}

/// The default of the reference's `transcribe()`, unlike that of its command line.
const std::vector<std::string> kGreedy{"--beam-size", "None"};

void expect_parity(const std::vector<Json>& clips, const std::string& model = hugging_face_model(),
                   std::vector<std::string> search = kGreedy) {
  std::vector<std::string> paths;
  for (const Json& clip : clips) paths.push_back(clip["path"]);
  search.insert(search.end(), {"--temperature-increment-on-fallback", "None"});
  const WholeRun run = transcribe(paths, search, model);
  for (const Json& clip : clips) {
    SCOPED_TRACE(clip["path"].get<std::string>());
    const auto ours = run.transcripts.find((test_data() / clip["path"].get<std::string>()).string());
    ASSERT_NE(ours, run.transcripts.end());
    expect_equal_segments(ours->second, clip);
  }
  std::printf("%zu clips, %zu decoder steps, %zu decided by less than 1e-4, no token differs\n", clips.size(),
              run.steps, run.narrow);
}

}  // namespace

TEST(Parity, EveryExpectedClipHasTheReferencesTokensTextAndTimes) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json expected = read_json(test_data() / "whisper-tiny.en/expected.json");
  expect_parity({expected["clips"].begin(), expected["clips"].end()});
}

TEST(Parity, SpeechInManyContainersHasTheReferencesTokensTextAndTimes) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json expected = read_json(std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/system/transcribe.json");
  expect_parity({expected["clips"].begin(), expected["clips"].end()});
}

TEST(Parity, BeamSearchEqualsTheReference) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json expected = read_json(std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/system/beam.json");
  std::map<std::string, std::vector<Json>> by_search;
  for (const Json& clip : expected["clips"]) by_search[clip["search"].dump()].push_back(clip);
  ASSERT_EQ(by_search.size(), 2U);
  for (const auto& [search, clips] : by_search) {
    std::vector<std::string> flags;  // five beams are the default, as on the reference's command line
    const Json options = Json::parse(search);
    for (const auto& [name, value] : options.items()) flags.insert(flags.end(), {"--" + name, value.dump()});
    expect_parity(clips, hugging_face_model(), flags);
  }
}

TEST(Parity, FallbackLoopEqualsReferenceUpToSampledText) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json expected = read_json(std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/system/transcribe.json");
  std::vector<std::string> paths;
  for (const Json& clip : expected["clips"]) paths.push_back(clip["path"]);
  const WholeRun run = transcribe(paths, kGreedy);
  std::size_t whole = 0, compared = 0;
  for (Json clip : expected["clips"]) {
    SCOPED_TRACE(clip["path"].get<std::string>());
    const auto found = run.transcripts.find((test_data() / clip["path"].get<std::string>()).string());
    ASSERT_NE(found, run.transcripts.end());
    Json ours = found->second;
    if (clip["fallback_whole"]) {
      ++whole;
      EXPECT_EQ(ours["text"], clip["text"]);
    } else {  // what follows was drawn at random, here as there
      const std::size_t greedy = clip["fallback_segments"];
      ASSERT_GE(ours["segments"].size(), greedy);
      for (Json* both : {&ours, &clip}) {
        (*both)["segments"].erase((*both)["segments"].begin() + static_cast<std::ptrdiff_t>(greedy),
                                  (*both)["segments"].end());
        (*both)["text"] = "";
      }
    }
    compared += ours["segments"].size();
    expect_equal_segments(ours, clip);
  }
  EXPECT_GT(whole, 0U);
  std::printf("%zu segments compared; %zu of %zu clips whole\n", compared, whole, paths.size());
}

namespace {

/// The expected clips of half a minute and less.
std::vector<Json> short_clips() {
  const Json expected = read_json(test_data() / "whisper-tiny.en/expected.json");
  std::vector<Json> clips;
  for (const Json& clip : expected["clips"])
    if (clip["path"].get<std::string>().find("long") == std::string::npos) clips.push_back(clip);
  EXPECT_GE(clips.size(), 6U);
  return clips;
}

}  // namespace

TEST(Parity, OpenAiCheckpointGivesTheSameText) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const TempFolder folder;
  expect_parity(short_clips(), stored_as("openai", "tiny.en.pt", folder));
}

TEST(Parity, FasterWhisperFolderGivesTheSameText) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const TempFolder folder;
  expect_parity(short_clips(), stored_as("ctranslate2", "faster-whisper-tiny.en", folder));
}

TEST(Parity, WhisperCppFileGivesTheSameText) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const TempFolder folder;
  expect_parity(short_clips(), stored_as("ggml", "ggml-tiny.en.bin", folder));
}
