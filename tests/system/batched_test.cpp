// --batched and --vad as people run them: as right as the sequential way, and the same whatever runs beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/units.h"
#include "support/least_of.h"
#include "support/long_recording.h"
#include "support/process_tree.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"
#include "text/error_rate.h"
#include "text/normaliser.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// `clips` are paths.
std::vector<std::string> command(const TempFolder& out, const std::vector<std::string>& clips,
                                 const std::vector<std::string>& flags) {
  std::vector<std::string> words{tutti_program(), "transcribe",      "--model",    tiny_model(),   "--compute-type",
                                 "float32",       "--json",          "--language", "en",           "--beam-size",
                                 "None",          "--output-format", "json",       "--output-dir", out.path().string()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), clips.begin(), clips.end());
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

/// Errors per hundred words over the transcripts of `recordings`. Words alone count: a window that begins within a
/// sentence begins with a capital, and "42-line" is as right as "42 line".
double word_errors(const std::map<std::string, std::string>& files, const std::vector<SpokenRecording>& recordings) {
  std::vector<std::string> output, found;
  for (const auto& recording : recordings) {
    output.push_back(normalise_basic(recording.spoken["text"].get<std::string>()));
    found.push_back(normalise_basic(Json::parse(files.at(recording.file.stem()))["text"].get<std::string>()));
  }
  return 100 * error_rates(output, found).value().wer();
}

class Batched : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_TINY_MODEL();
    TUTTI_NEEDS("vad/silence.wav");
  }

  SpokenRecording minutes(int number) const { return long_recording(folder_, number); }

  /// Every short clip, the longest first.
  static std::vector<std::string> short_clips() {
    std::vector<std::string> clips;
    for (const char* name : {"mixed.m4a", "george.wav", "yweweler.flac", "theo.mp3", "jackson.ogg"})
      clips.push_back(TUTTI_SOURCE_DIR "/samples/" + std::string(name));
    for (const char* name :
         {"clips/mixed-2.wav", "clips/noise.wav", "clips/string-lucas.wav", "clips/string-nicolas.wav"})
      if (has_shared_tiny_model()) clips.push_back(shared_tiny_model() / name);
    clips.push_back(silence());
    return clips;
  }

  static std::string silence() { return test_data() / "vad/silence.wav"; }

  const std::string mixed_ = TUTTI_SOURCE_DIR "/samples/mixed.m4a";
  const std::string george_ = TUTTI_SOURCE_DIR "/samples/george.wav";
  const TempFolder folder_{};
};
using BatchedTimed = Batched;

}  // namespace

using BatchedLong = Batched;

TEST_F(BatchedLong, RecordingsOfMinutesHaveNoMoreErrorsThanInOrder) {
  const std::vector<SpokenRecording> recordings{minutes(3), minutes(8)};
  const std::vector<std::string> clips{recordings[0].file, recordings[1].file};
  const double in_order = word_errors(transcripts(clips, {}), recordings);
  const double batched = word_errors(transcripts(clips, {"--batched"}), recordings);
  std::printf("errors in 100 words: %.2f in order, %.2f batched\n", in_order, batched);
  EXPECT_LE(batched, in_order + 0.5);
}

TEST_F(Batched, TheTranscriptDoesNotDependOnTheBatchOrOnTheOrderOfTheFiles) {
  std::vector<std::string> clips = short_clips();
  clips.push_back(minutes(2).file);
  const auto alone = transcripts(clips, {"--batched", "--batch-size", "1"});
  ASSERT_EQ(alone.size(), clips.size());
  std::ranges::reverse(clips);
  EXPECT_EQ(transcripts(clips, {"--batched", "--batch-size", "16"}), alone);
}

// In a type that rounds by row: it is the shapes that are fixed, not luck with float32.
TEST_F(Batched, FixedShapesMakeInt8IndependentOfBatchAndFileOrder) {
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

TEST_F(Batched, ShortFilesTogetherEqualEachFileAlone) {
  const auto together = transcripts(short_clips(), {"--batched"});
  for (const std::string& clip : {mixed_, george_, silence()}) {
    const auto stem = std::filesystem::path(clip).stem().string();
    EXPECT_EQ(transcripts({clip}, {"--batched"})[stem], together.at(stem)) << clip;
  }
}

TEST_F(Batched, AFileWithoutSpeechIsAnEmptyTranscript) {
  const auto quiet = transcripts({silence()}, {"--batched"});
  EXPECT_EQ(Json::parse(quiet.at("silence"))["text"], "");
  EXPECT_EQ(Json::parse(quiet.at("silence"))["language"], "en");
}

TEST_F(Batched, VadKeepsTheTextAndTheRecordingsTimes) {
  const Json all = Json::parse(transcripts({mixed_}, {}).at("mixed"));
  const Json speech = Json::parse(transcripts({mixed_}, {"--vad"}).at("mixed"));
  std::string output = speech["text"], expected = all["text"];
  EXPECT_LE(error_rates(std::vector{expected}, std::vector{output}).value().wer(), 0.1) << output << "\n" << expected;
  EXPECT_NEAR(speech["segments"].front()["start"].get<double>(), all["segments"].front()["start"].get<double>(), 0.5);
  EXPECT_NEAR(speech["segments"].back()["end"].get<double>(), all["segments"].back()["end"].get<double>(), 0.5);
}

TEST_F(Batched, KilledWorkerWithWindowsInFlightLosesNoText) {
  const std::string recording = minutes(3).file;
  const auto quiet = transcripts({recording}, {"--batched"});
  const TempFolder out;
  RunningProgram program(command(out, {recording}, {"--batched"}));
  ASSERT_TRUE(program.saw("\"segment\""));
  const pid_t worker = worker_of(program.pid());
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  const ProgramEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("\"worker_restarts\":1"), std::string::npos) << end.out;
  EXPECT_EQ(written(out), quiet);
}

TEST_F(BatchedTimed, CtrlCKeepsFinishedFilesAndLeavesNoPartialOne) {
  constexpr Seconds kLimit{2.0};  // a second, and one for a busy machine
  const std::vector<std::string> files{george_, minutes(8).file};
  const auto until_ended = [&] {
    const TempFolder out;
    RunningProgram program(command(out, files, {"--batched"}));
    EXPECT_TRUE(program.saw("\"done\""));
    const auto pressed = Clock::real().now();
    EXPECT_EQ(::kill(program.pid(), SIGINT), 0);
    const ProgramEnd end = program.wait();
    const Seconds took = Clock::real().now() - pressed;
    EXPECT_EQ(end.exit_code, 130) << end.err;
    EXPECT_TRUE(std::filesystem::exists(out / "george.json"));
    EXPECT_FALSE(std::filesystem::exists(out / "long-eight-minutes.json"));
    return took;
  };
  EXPECT_LT(least_of_three(kLimit, until_ended), kLimit);
}
