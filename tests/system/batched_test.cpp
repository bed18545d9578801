// --batched and --vad as people run them: as right as the sequential way, and the same whatever runs beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/units.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "text/error_rate/wer.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

constexpr const char* kThreeMinutes = "long-three-minutes.flac";
constexpr const char* kEightMinutes = "long-eight-minutes.flac";

std::vector<std::string> command(const TempFolder& out, const std::vector<std::string>& clips,
                                 const std::vector<std::string>& flags) {
  std::vector<std::string> words{tutti_program(),
                                 "transcribe",
                                 "--model",
                                 (test_data() / "whisper-tiny.en"),
                                 "--compute-type",
                                 "float32",
                                 "--json",
                                 "--language",
                                 "en",
                                 "--beam-size",
                                 "None",
                                 "--output-format",
                                 "json",
                                 "--output-dir",
                                 out.path().string()};
  words.insert(words.end(), flags.begin(), flags.end());
  for (const auto& clip : clips) words.push_back((test_data() / "whisper-tiny.en/clips" / clip).string());
  return words;
}

/// What the run wrote, by the input's stem.
std::map<std::string, std::string> written(const TempFolder& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(out.path()))
    files[entry.path().stem()] = read_file(entry.path()).value();
  return files;
}

std::map<std::string, std::string> transcripts(const std::vector<std::string>& clips,
                                               const std::vector<std::string>& flags) {
  const TempFolder out;
  const ProgramEnd end = run_program(command(out, clips, flags));
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return written(out);
}

/// Errors per hundred words over all `files`.
double word_errors(const std::map<std::string, std::string>& files) {
  const Json texts = Json::parse(read_file(test_data() / "whisper-tiny.en/clips/texts.json").value());
  std::vector<std::string> said, heard;
  for (const auto& [stem, content] : files) {
    said.push_back(texts[stem + ".flac"]["text"]);
    heard.push_back(Json::parse(content)["text"]);
  }
  return 100 * error_rates(said, heard).value().wer();
}

/// Every short clip, the longest first.
std::vector<std::string> short_clips() {
  return {"mixed-1.wav",        "mixed-2.wav",      "noise.wav",       "silence.wav",         "string-george.wav",
          "string-jackson.wav", "string-lucas.wav", "string-theo.wav", "string-yweweler.wav", "string-nicolas.wav"};
}

class Batched : public testing::Test {
 protected:
  void SetUp() override { TUTTI_NEEDS("whisper-tiny.en/clips/texts.json"); }
};
using BatchedTimed = Batched;

}  // namespace

TEST_F(Batched, LongRecordingsAreHeardAsRightlyAsInOrder) {
  const std::vector<std::string> clips{kThreeMinutes, kEightMinutes};
  const double in_order = word_errors(transcripts(clips, {}));
  const double batched = word_errors(transcripts(clips, {"--batched"}));
  std::printf("errors in 100 words: %.2f in order, %.2f batched\n", in_order, batched);
  EXPECT_LE(batched, in_order + 0.5);
}

TEST_F(Batched, TheTranscriptDoesNotDependOnTheBatchOrOnTheOrderOfTheFiles) {
  std::vector<std::string> clips = short_clips();
  clips.push_back(kThreeMinutes);
  const auto alone = transcripts(clips, {"--batched", "--batch-size", "1"});
  ASSERT_EQ(alone.size(), clips.size());
  EXPECT_EQ(transcripts(clips, {"--batched", "--batch-size", "4"}), alone);
  std::ranges::reverse(clips);
  EXPECT_EQ(transcripts(clips, {"--batched", "--batch-size", "16"}), alone);
}

// In a type that rounds by row: it is the shapes that are fixed, not luck with float32.
TEST_F(Batched, InFixedShapesTheTranscriptOfInt8DoesNotDependOnTheBatchOrOnTheOrderOfTheFiles) {
  const std::vector<std::string> flags{"--batched", "--compute-type", "int8", "--deterministic", "--batch-size"};
  const auto with_batch = [&](const char* size) {
    std::vector<std::string> all = flags;
    all.emplace_back(size);
    return all;
  };
  std::vector<std::string> clips = short_clips();
  const auto alone = transcripts(clips, with_batch("1"));
  ASSERT_EQ(alone.size(), clips.size());
  std::ranges::reverse(clips);
  EXPECT_EQ(transcripts(clips, with_batch("8")), alone);
}

TEST_F(Batched, ShortFilesTogetherSayWhatEachSaysAlone) {
  const auto together = transcripts(short_clips(), {"--batched"});
  for (const char* clip : {"mixed-2", "string-george", "silence"})
    EXPECT_EQ(transcripts({std::string(clip) + ".wav"}, {"--batched"})[clip], together.at(clip)) << clip;
}

TEST_F(Batched, AFileWithoutSpeechIsAnEmptyTranscript) {
  const auto quiet = transcripts({"silence.wav"}, {"--batched"});
  EXPECT_EQ(Json::parse(quiet.at("silence"))["text"], "");
  EXPECT_EQ(Json::parse(quiet.at("silence"))["language"], "en");
}

TEST_F(Batched, WithVadTheLoopHearsTheSameSpeechAndTimesStayTheRecordings) {
  const Json all = Json::parse(transcripts({"mixed-1.wav"}, {}).at("mixed-1"));
  const Json speech = Json::parse(transcripts({"mixed-1.wav"}, {"--vad"}).at("mixed-1"));
  std::string said = speech["text"], expected = all["text"];
  EXPECT_LE(error_rates(std::vector{expected}, std::vector{said}).value().wer(), 0.1) << said << "\n" << expected;
  EXPECT_NEAR(speech["segments"].front()["start"].get<double>(), all["segments"].front()["start"].get<double>(), 0.5);
  EXPECT_NEAR(speech["segments"].back()["end"].get<double>(), all["segments"].back()["end"].get<double>(), 0.5);
}

TEST_F(Batched, AWorkerKilledWithManyWindowsInFlightCostsNothingOfTheTranscript) {
  const auto quiet = transcripts({kThreeMinutes}, {"--batched"});
  const TempFolder out;
  RunningProgram program(command(out, {kThreeMinutes}, {"--batched"}));
  ASSERT_TRUE(program.saw("\"segment\""));
  const pid_t worker = worker_of(program.pid());
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  const ProgramEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("\"worker_restarts\":1"), std::string::npos) << end.out;
  EXPECT_EQ(written(out), quiet);
}

TEST_F(BatchedTimed, CtrlCKeepsWhatIsFinishedAndLeavesNoHalfFile) {
  const TempFolder out;
  RunningProgram program(command(out, {"string-george.wav", kEightMinutes}, {"--batched"}));
  ASSERT_TRUE(program.saw("\"done\""));
  const auto pressed = Clock::real().now();
  ASSERT_EQ(::kill(program.pid(), SIGINT), 0);
  const ProgramEnd end = program.wait();
  const Seconds took = Clock::real().now() - pressed;
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_LT(took.count(), 2.0) << "a second, and one for a busy machine";
  EXPECT_TRUE(std::filesystem::exists(out / "string-george.json"));
  EXPECT_FALSE(std::filesystem::exists(out / "long-eight-minutes.json"));
}
