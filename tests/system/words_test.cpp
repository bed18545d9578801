// Word times of what a user runs, against what openai-whisper 20250625 says of the same audio with the same weights
// (float32, CPU).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// A step of the alignment. Where two ways through the attention cost the same but for rounding, a word may begin one
/// step from where the reference lets it.
constexpr double kStep = 0.02;

struct Compared {
  std::size_t words = 0;
  std::size_t a_step_off = 0;
};

Json read_json(const std::filesystem::path& path) {
  return Json::parse(read_file(path).value());
}

std::vector<std::string> flags_of(const std::string& name) {
  if (name == "silence") return {"--hallucination-silence-threshold", "2"};
  if (name == "prefix") return {"--prefix", "one two"};
  if (name == "no timestamps") return {"--without-timestamps"};
  return {};
}

/// Transcribes `clips` into `out`, named by path.
void transcribe(const TempFolder& out, const std::vector<Json>& clips, const std::vector<std::string>& flags) {
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 (test_data() / "whisper-tiny.en").string(),
                                 "--compute-type",
                                 "float32",
                                 "--word_timestamps",
                                 "True",
                                 "--beam-size",  // as the reference's transcribe(), not its command line
                                 "None",
                                 "--temperature-increment-on-fallback",
                                 "None",
                                 "--quiet",
                                 "--name-by",
                                 "path",
                                 "--output-dir",
                                 out.path().string()};
  words.insert(words.end(), flags.begin(), flags.end());
  for (const Json& clip : clips) words.push_back((test_data() / clip["path"].get<std::string>()).string());
  const ProgramEnd end = run_program(words);
  ASSERT_EQ(end.exit_code, 0) << end.err;
}

/// What was written for `clip`; the folders that all inputs share are left out of its name.
std::filesystem::path output_of(const TempFolder& out, const Json& clip, const std::string& extension) {
  const std::string name = std::filesystem::path(clip["path"].get<std::string>()).filename().string() + extension;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path()))
    if (entry.path().filename() == name) return entry.path();
  ADD_FAILURE() << name << " was not written";
  return {};
}

void compare_time(Compared& compared, double ours, double theirs) {
  if (std::abs(ours - theirs) < 1e-9) return;
  ++compared.a_step_off;
  EXPECT_NEAR(ours, theirs, kStep + 1e-9);
}

void compare_segments(Compared& compared, const Json& ours, const Json& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    SCOPED_TRACE("segment " + std::to_string(i));
    EXPECT_EQ(ours[i]["seek"], theirs[i]["seek"]);
    EXPECT_EQ(ours[i]["text"], theirs[i]["text"]);
    compare_time(compared, ours[i]["start"], theirs[i]["start"]);
    compare_time(compared, ours[i]["end"], theirs[i]["end"]);
    const Json& said = ours[i].contains("words") ? ours[i]["words"] : Json::array();
    ASSERT_EQ(said.size(), theirs[i]["words"].size());
    for (std::size_t w = 0; w < said.size(); ++w) {
      const Json& expected = theirs[i]["words"][w];
      EXPECT_EQ(said[w]["word"], expected[0]);
      compare_time(compared, said[w]["start"], expected[1]);
      compare_time(compared, said[w]["end"], expected[2]);
      EXPECT_NEAR(said[w]["probability"].get<double>(), expected[3].get<double>(), 1e-3);
      ++compared.words;
    }
  }
}

class WordTimesOf : public testing::TestWithParam<std::string> {};

}  // namespace

TEST_P(WordTimesOf, EveryClipAreTheReferences) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json golden = read_json(TUTTI_SOURCE_DIR "/tests/data/system/words.json");  // tools/golden/word_times.py
  std::vector<Json> clips;
  for (const Json& clip : golden["clips"])
    if (clip["case"] == GetParam()) clips.push_back(clip);
  ASSERT_GE(clips.size(), 2U);
  const TempFolder out;
  transcribe(out, clips, flags_of(GetParam()));
  Compared compared;
  for (const Json& clip : clips) {
    SCOPED_TRACE(clip["path"].get<std::string>());
    compare_segments(compared, read_json(output_of(out, clip, ".json"))["segments"], clip["segments"]);
  }
  EXPECT_LE(compared.a_step_off * 100, compared.words);
  std::printf("%zu clips, %zu words, %zu times a step off\n", clips.size(), compared.words, compared.a_step_off);
}

INSTANTIATE_TEST_SUITE_P(Cases, WordTimesOf, testing::Values("words", "silence", "prefix", "no timestamps"),
                         [](const auto& made) {
                           std::string name = made.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(WordTimes, OfTheSharedClipsAreThoseOfItsExpectedValues) {
  TUTTI_NEEDS("whisper-tiny.en/expected.json");
  std::vector<Json> clips;
  for (const Json& clip : read_json(test_data() / "whisper-tiny.en/expected.json")["clips"]) {
    const Json& first = clip["segments"][0];
    if (!first.contains("words") || first["words"].empty()) continue;
    clips.push_back({{"path", clip["path"]}, {"segments", Json::array()}});
    for (Json segment : clip["segments"]) {
      Json words = Json::array();
      for (const Json& word : segment["words"])
        words.push_back({word["word"], word["start"], word["end"], word["probability"]});
      segment["words"] = words;
      clips.back()["segments"].push_back(segment);
    }
  }
  ASSERT_GE(clips.size(), 2U);
  const TempFolder out;
  transcribe(out, clips, {});
  Compared compared;
  for (const Json& clip : clips)
    compare_segments(compared, read_json(output_of(out, clip, ".json"))["segments"], clip["segments"]);
  EXPECT_EQ(compared.a_step_off, 0U);
  EXPECT_GE(compared.words, 60U);
}

TEST(WordTimes, AreLaidOutInSubtitlesAsTheReferenceDoes) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json golden = read_json(TUTTI_SOURCE_DIR "/tests/data/system/words.json");
  const Json& clip = golden["clips"][0];
  const TempFolder out;
  transcribe(out, {clip}, {"--max_line_width", "20", "--max_line_count", "2", "--highlight_words", "True"});
  for (const char* format : {"srt", "vtt"})
    EXPECT_EQ(read_file(output_of(out, clip, "." + std::string(format))).value(), clip[format].get<std::string>());

  const TempFolder converted;
  const ProgramEnd end =
      run_program({tutti_program(), "convert", output_of(out, clip, ".json").string(), "-f", "srt", "--output-dir",
                   converted.path().string(), "--max-line-width", "20", "--max-line-count", "2", "--highlight-words"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(read_file(converted / "mixed-1.wav.srt").value(), clip["srt"].get<std::string>());
}

TEST(WordTimes, StandInTheEventsOfTheirSegments) {
  TUTTI_NEEDS("whisper-tiny.en/clips/string-theo.wav");
  const TempFolder out;
  const ProgramEnd end =
      run_program({tutti_program(), "transcribe", "--model", (test_data() / "whisper-tiny.en").string(),
                   "--word-timestamps", "--json", "-f", "json", "--output-dir", out.path().string(),
                   (test_data() / "whisper-tiny.en/clips/string-theo.wav").string()});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const Json segments = read_json(out / "string-theo.json")["segments"];
  std::istringstream lines(end.out);
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    if (event["event"] != "segment") continue;
    EXPECT_EQ(event["words"], segments[seen]["words"]);
    EXPECT_EQ(event["start"], segments[seen]["start"]);
    ++seen;
  }
  EXPECT_EQ(seen, segments.size());
  EXPECT_GE(seen, 1U);
}

TEST(Convert, SaysThatALayoutOfWordsNeedsWordTimes) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "bare.json",
                                    R"({"segments": [{"start": 0, "end": 1, "text": " one two", "tokens": [5]}]})"));
  const ProgramEnd end = run_program({tutti_program(), "convert", (folder / "bare.json").string(), "-f", "srt",
                                      "--output-dir", folder.path().string(), "--max-words-per-line", "1"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("bare.json: there are no word times in it; --max-words-per-line has no effect"),
            std::string::npos)
      << end.err;
  EXPECT_EQ(read_file(folder / "bare.srt").value(), "1\n00:00:00,000 --> 00:00:01,000\none two\n\n");
}
