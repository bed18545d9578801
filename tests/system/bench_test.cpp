// `tutti bench` as people call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/scripted_machine.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

/// `tutti bench` on one short recording with a model that knows what is spoken there.
ProgramEnd bench(const std::string& devices, std::vector<std::string> options) {
  options.insert(options.begin(), {tutti_program(), "bench", "--model", digits_model(), "--devices", devices});
  options.emplace_back(TUTTI_SOURCE_DIR "/samples/george.wav");
  return run_program(options);
}

}  // namespace

TEST(Bench, ComparesSettingsAndRecommendsOneWithEqualText) {
  const TempFolder folder;
  const std::string picture = (folder / "speed.svg").string();
  const ProgramEnd end =
      bench("cpu", {"--compute-types", "float32,bfloat16", "--batch-sizes", "2", "--json", "--picture", picture});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto reported = nlohmann::json::parse(end.out);
  ASSERT_EQ(reported["trials"].size(), 2U);
  for (const auto& trial : reported["trials"]) {
    EXPECT_EQ(trial["word_error_rate"], 0) << trial;
    EXPECT_GT(trial["x_real_time"], 0);
    EXPECT_GT(trial["worker_peak_bytes"], 50'000'000);
    EXPECT_GT(trial["share_of_limit"], 0);
    EXPECT_LT(trial["share_of_limit"], 10)
        << "of the right order: the limit is measured apart, maybe beside other tests";
  }
  EXPECT_THAT(reported["recommended"].get<std::string>(), StartsWith("--batched --device cpu --compute-type "));
  EXPECT_THAT(reported["recommended"].get<std::string>(), HasSubstr(" --beam-size None ")) << "as it was measured";
  EXPECT_THAT(read_file(picture).value(), StartsWith("<svg"));
}

TEST(Bench, FailedSettingIsNamedWithItsReason) {
  const ProgramEnd end = bench("cuda:7", {"--compute-types", "float16", "--batch-sizes", "1"});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_THAT(end.out, HasSubstr("did not run: "));
  EXPECT_THAT(end.out, HasSubstr("cuda:7 float16 batch 1"));
  EXPECT_THAT(end.err, HasSubstr("no setting could run"));
}

TEST(Bench, InvalidFlagsAreRefusedBeforeMeasuring) {
  const auto refused = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {tutti_program(), "bench", "--model", TUTTI_SOURCE_DIR "/models/nano"});
    const ProgramEnd end = run_program(flags);
    EXPECT_EQ(end.exit_code, 2) << end.err;
    EXPECT_EQ(end.out, "");
    return end.err;
  };
  EXPECT_THAT(refused({"--devices", "cpu,gpux"}), HasSubstr("--devices: device 'gpux'"));
  EXPECT_THAT(refused({"--devices", "cpu", "--compute-types", "float32,int3"}), HasSubstr("found 'int3'"));
  EXPECT_THAT(refused({"--batch-sizes", "8,1025"}),
              HasSubstr("--batch-sizes: expected numbers from 1 to 1024, found 1025"));
  EXPECT_THAT(refused({"--seconds", "0"}), HasSubstr("--seconds: expected a number above 0, found 0"));
  EXPECT_THAT(refused({"--model", "tinny.en"}), HasSubstr("tiny.en"));
  EXPECT_THAT(refused({"-"}), HasSubstr("standard input can be read once"));
}

TEST(Bench, DryRunShowsMemoryOfEverySettingWithoutAModel) {
  const auto dry = [](const std::string& model, std::vector<std::string> more) {
    more.insert(more.begin(), {tutti_program(), "bench", "--dry-run", "--model", model, "--devices",
                               "emulated:30x:16GB", "--batch-sizes", "64"});
    return run_program(more);
  };
  const ProgramEnd table = dry("large-v3", {});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("emulated:30x:16GB: 16000 MB are free"));
  EXPECT_THAT(table.out, HasSubstr("bfloat16"));
  EXPECT_THAT(table.out, HasSubstr("does not fit"));
  const ProgramEnd reported = dry("large-v3", {"--compute-types", "int8_float16", "--json"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_EQ(nlohmann::json::parse(reported.out)["settings"][0]["fits"], true);
  const TempFolder folder;
  const std::string picture = folder / "speeds.svg";
  const ProgramEnd drawn = dry("large-v3", {"--picture", picture});
  EXPECT_THAT(drawn.err, HasSubstr("--picture has no effect with --dry-run"));
  EXPECT_FALSE(std::filesystem::exists(picture));
  const ProgramEnd nameless = dry("my-own.pt", {});
  EXPECT_EQ(nameless.exit_code, 4);
  EXPECT_THAT(nameless.err, HasSubstr("my-own.pt: how much memory it takes is not known before it is loaded"));
}

TEST(Bench, DryRunForAT4ListsWhatTuringComputes) {
  const auto dry = [](std::vector<std::string> more) {
    more.insert(more.begin(), {tutti_program(), "bench", "--dry-run", "--model", "large-v3", "--devices", "T4"});
    return run_program(more);
  };
  const ProgramEnd table = dry({"--batch-sizes", "32,64"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("T4: left out what it cannot compute in: bfloat16, tf32"));
  EXPECT_EQ(table.out,
            "T4: 15301 MB are free\n"
            "                   weights    per window  per sequence    32 windows    64 windows\n"
            "float32            6169 MB        492 MB         78 MB     26596 MB*     42858 MB*\n"
            "float16            3085 MB        246 MB         40 MB     13831 MB      21565 MB*\n"
            "int8_float16       2574 MB        131 MB         40 MB      9173 MB      14112 MB \n"
            "* does not fit\n");
  const ProgramEnd none = dry({"--compute-types", "tf32"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("--compute-types: no device has any of them"));
  const ProgramEnd measured =
      run_program({tutti_program(), "bench", "--model", TUTTI_SOURCE_DIR "/models/nano", "--devices", "T4"});
  EXPECT_EQ(measured.exit_code, 2) << "it is not here to measure";
}

TEST(Bench, FolderAsRecordingIsAUsageError) {
  const TempFolder folder;
  const ProgramEnd end = run_program({tutti_program(), "bench", "--model", TUTTI_SOURCE_DIR "/models/nano", "--devices",
                                      "cpu", "--compute-types", "default", "--batch-sizes", "1", folder.path()});
  EXPECT_EQ(end.exit_code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("expected a sound file, found a folder")) << "and default is a type as for transcribe";
}

TEST(Bench, UnreadableRecordingEndsTheBenchOnce) {
  const TempFolder folder;
  const ProgramEnd end = bench("cpu", {"--compute-types", "float32", "--batch-sizes", "1,2", folder / "none.wav"});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_THAT(end.err, HasSubstr("none.wav: cannot be opened"));
  EXPECT_THAT(end.err, Not(HasSubstr("no setting could run")));
  EXPECT_THAT(end.out, Not(HasSubstr("did not run"))) << "it is none of a setting's fault";
}

TEST(Bench, WithoutSpeechNothingIsMeasuredAndNothingRecommended) {
  TUTTI_NEEDS("vad/silence.wav");
  const ProgramEnd end = run_program({tutti_program(), "bench", "--model", TUTTI_SOURCE_DIR "/models/nano", "--devices",
                                      "cpu", "--compute-types", "float32", "--batch-sizes", "1,2", "--json",
                                      (test_data() / "vad/silence.wav").string()});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("silence.wav: expected speech to measure with, found none"));
}

TEST(Bench, GpuTrialReportsGpuMemoryAndTranscribedAudio) {
  const ScriptedMachine machine(
      "gpu uuid=GPU-a bus=0000:01:00.0 cc=8.9 total=24000000000 used=5000000000 name=Card A\n");
  const ProgramEnd end = run_program({tutti_program(), "bench", "--model", TUTTI_SOURCE_DIR "/models/nano", "--devices",
                                      "emulated:10x:12GB@GPU-a", "--compute-types", "float32", "--batch-sizes", "2",
                                      "--seconds", "2", "--json"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto trial = nlohmann::json::parse(end.out)["trials"][0];
  EXPECT_NEAR(trial["audio_seconds"].get<double>(), 16 * 2, 0.1) << "so much of the clip, sixteen times";
  ASSERT_TRUE(trial["gpu_peak_bytes"].is_number()) << trial;
  EXPECT_GT(trial["gpu_peak_bytes"], 1'000'000'000) << "as much as the card plays to hold";
  EXPECT_LT(trial["gpu_peak_bytes"], 12'000'000'001) << "and not what others had taken before";
  EXPECT_LT(trial["worker_peak_bytes"], 1'000'000'000) << "which this machine's memory does not know of";
}

TEST(Limits, AreMeasuredOnTheThreadsThatAreNamed) {
  const auto limits = [](const char* threads) {
    return run_program({TUTTI_BINARY_DIR "/bin/tutti-engine", "limits", "--model", TUTTI_SOURCE_DIR "/models/nano",
                        "--compute-type", "int8", "--threads", threads});
  };
  const ProgramEnd one = limits("1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  for (const char* name : {"flops ", "bandwidth ", "window_flops ", "step_bytes ", "sequence_bytes "})
    EXPECT_THAT(one.out, HasSubstr(name));
  const ProgramEnd none = limits("many");
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("--threads: expected a whole number, found 'many'"));
}
