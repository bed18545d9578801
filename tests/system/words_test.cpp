// The program's word times against those of openai-whisper 20250625 for the same audio and weights (float32, CPU).

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

Json read_json(const std::filesystem::path& path) {
  return Json::parse(read_file(path).value());
}

/// Transcribes `clips` into `out`, named by path, as the expected values were made: greedy, at temperature 0 alone.
void transcribe(const TempFolder& out, const std::vector<Json>& clips, const std::vector<std::string>& flags) {
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 (test_data() / "whisper-tiny.en").string(),
                                 "--compute-type",
                                 "float32",
                                 "--beam-size",
                                 "None",
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

void expect_times(const Json& ours, const Json& theirs) {
  for (const char* edge : {"start", "end"})
    EXPECT_NEAR(ours[edge].get<double>(), theirs[edge].get<double>(), 1e-9) << edge;
}

/// The number of words compared.
std::size_t compare_segments(const Json& ours, const Json& theirs) {
  EXPECT_EQ(ours.size(), theirs.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    SCOPED_TRACE("segment " + std::to_string(i));
    EXPECT_EQ(ours[i]["seek"], theirs[i]["seek"]);
    EXPECT_EQ(ours[i]["text"], theirs[i]["text"]);
    expect_times(ours[i], theirs[i]);
    const Json& words = theirs[i]["words"];
    EXPECT_EQ(ours[i]["words"].size(), words.size());
    for (std::size_t w = 0; w < std::min(ours[i]["words"].size(), words.size()); ++w) {
      const Json& output = ours[i]["words"][w];
      EXPECT_EQ(output["word"], words[w]["word"]);
      expect_times(output, words[w]);
      EXPECT_NEAR(output["probability"].get<double>(), words[w]["probability"].get<double>(), 1e-3);
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST(WordTimes, SharedClipsHaveTheExpectedWordTimes) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json expected = read_json(test_data() / "whisper-tiny.en/expected.json");
  std::vector<Json> clips;
  for (const Json& clip : expected["clips"]) {
    const Json& first = clip["segments"][0];
    if (first.contains("words") && !first["words"].empty()) clips.push_back(clip);
  }
  ASSERT_GE(clips.size(), 2U);
  const TempFolder out;
  transcribe(out, clips, {});
  std::size_t compared = 0;
  for (const Json& clip : clips)
    compared += compare_segments(read_json(output_of(out, clip, ".json"))["segments"], clip["segments"]);
  EXPECT_GE(compared, 60U);
}

TEST(WordTimes, AreLaidOutInSubtitlesAsTheReferenceDoes) {
  TUTTI_NEEDS("whisper-tiny.en/model.safetensors");
  const Json clip = read_json(TUTTI_SOURCE_DIR "/tests/data/system/words.json");  // tools/golden/word_subtitles.py
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
  const TempFolder out;
  const ProgramEnd end =
      run_program({tutti_program(), "transcribe", "--model", digits_model(), "--word-timestamps", "--json", "-f",
                   "json", "--output-dir", out.path().string(), TUTTI_SOURCE_DIR "/samples/george.wav"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const Json segments = read_json(out / "george.json")["segments"];
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

TEST(Convert, WordLayoutWithoutWordTimesWarns) {
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
