// What of a file is transcribed, and what is reported of the rest, as people run the programs.

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "support/real_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

std::string outside(const std::string& name) {
  return std::string(TUTTI_SOURCE_DIR) + "/tests/data/audio/outside/" + name;
}

ProgramEnd features(const std::string& name, const std::vector<std::string>& flags) {
  std::vector<std::string> words{tutti_program(), "features", "--json", "--vad", outside(name)};
  words.insert(words.end(), flags.begin(), flags.end());
  return run_program(words);
}

/// The JSON transcript of a file.
Json transcript(const std::string& name, const std::vector<std::string>& flags,
                const std::filesystem::path& model = test_data() / "whisper-tiny.en") {
  const TempFolder out;
  std::vector<std::string> words{tutti_program(), "transcribe", "--model",      model,      "-f",         "json",
                                 "--beam-size",   "None",       "--output-dir", out.path(), outside(name)};
  words.insert(words.end(), flags.begin(), flags.end());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto written = read_file(out.path() / std::filesystem::path(name).replace_extension(".json"));
  return written ? Json::parse(*written) : Json{{"segments", Json::array()}};
}

}  // namespace

TEST(WholeAudio, FeaturesTakesTrackAndChannelAndNotesThem) {
  const ProgramEnd usual = features("two-tracks-voice-in-2nd.mkv", {});
  const Json line = Json::parse(usual.out);
  EXPECT_GT(line["speech_seconds"], 2) << usual.out;
  EXPECT_NE(line["notes"].dump().find("audio track 2"), std::string::npos) << usual.out;
  EXPECT_EQ(Json::parse(features("two-tracks-voice-in-2nd.mkv", {"--track", "1"}).out)["speech_seconds"], 0);
  EXPECT_EQ(features("two-tracks-voice-in-2nd.mkv", {"--track", "3"}).exit_code, 3);
  EXPECT_EQ(features("two-tracks-voice-in-2nd.mkv", {"--track", "0"}).exit_code, 2);
  EXPECT_EQ(features("two-tracks-voice-in-2nd.mkv", {"--channel", "2"}).exit_code, 3);
}

TEST(WholeAudio, SubtitlesBeginWhereTheAudioDoes) {
  TUTTI_NEEDS("whisper-tiny.en");
  for (const auto& [name, late] :
       {std::pair("sound-begins-at-4s.mkv", 4.087), std::pair("sound-begins-at-4s.mp4", 4.0)})
    for (const std::vector<std::string>& way : {std::vector<std::string>{}, {"--batched"}, {"--vad"}}) {
      const Json segments = transcript(name, way)["segments"];
      ASSERT_FALSE(segments.empty()) << name;
      EXPECT_GE(segments[0]["start"].get<double>(), late - 0.1) << name << segments.dump();
      EXPECT_LE(segments[0]["start"].get<double>(), late + 1) << name << segments.dump();
    }
}

TEST(WholeAudio, TextAfterAGapStartsAfterIt) {
  TUTTI_NEEDS_REAL_MODEL();
  for (const std::vector<std::string>& way : {std::vector<std::string>{}, {"--batched"}}) {
    const Json segments = transcript("hole-of-6s.mkv", way, real_model())["segments"];
    ASSERT_FALSE(segments.empty());
    for (const Json& segment : segments) {
      const double start = segment["start"], end = segment["end"];
      EXPECT_TRUE(end <= 2.45 || start >= 8.35) << segment.dump();
    }
    EXPECT_GE(segments.back()["start"].get<double>(), 8.35);
  }
}

TEST(WholeAudio, RecordingsWithoutSpeechAreCounted) {
  const TempFolder out;
  const std::vector<std::string> command{
      tutti_program(), "transcribe",   "--model",  TUTTI_SOURCE_DIR "/models/nano",
      "--batched",     "--track",      "1",        "-f",
      "txt",           "--output-dir", out.path(), outside("two-tracks-voice-in-2nd.mkv")};
  const ProgramEnd end = run_program(command);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("1 of 1 files done, 1 without speech"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("two-tracks-voice-in-2nd.mkv: no speech was found"), std::string::npos) << end.err;
}
