#include "planning/batch/report_json.h"

#include <gmock/gmock.h>

#include "balance/types.h"
#include "base/json.h"

using namespace tutti;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

json reported(const BatchReport& report) {
  return json::parse(batch_report_json(report, {}, {}));
}

json asset_of(BatchAsset asset) {
  BatchReport report;
  report.assets = {std::move(asset)};
  return reported(report)["assets"][0];
}

}  // namespace

TEST(ReportJson, IsLaidOutAsAnyJsonAndEndsWithEveryRecording) {
  BatchReport report;
  for (const char* extra : {"{}", R"({"notes":"two\nlines, \"quoted\"","tags":["a","b"],"none":{}})", "{}"})
    report.assets.push_back({.uuid = "7", .name = "A talk", .status = "done", .extra = extra});
  for (const auto& each : {report, BatchReport{}}) {
    const std::string text = batch_report_json(each, {}, {});
    const auto parsed = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(parsed["assets"].size(), each.assets.size());
    EXPECT_EQ(text, parsed.dump(1) + "\n");
  }
}

TEST(ReportJson, CountsWhatWasLeftOutOfTheInputsByReason) {
  InputTally inputs;
  inputs.folders = {.taken = 3, .other_names = 20, .other_endings = {{".txt", 19}, {"", 1}}, .hidden = 2};
  inputs.unusable = 1;
  EXPECT_EQ(json::parse(batch_report_json({}, {}, {}, inputs))["left_out"],
            (json{{"not_audio_by_name", 20},
                  {"hidden", 2},
                  {"unusable", 1},
                  {"not_audio_by_ending", {{".txt", 19}, {"", 1}}}}));
  EXPECT_FALSE(json::parse(batch_report_json({}, {}, {})).contains("left_out"));
}

TEST(ReportJson, FieldsOfTheInputListArePassedOn) {
  const json asset = asset_of({.uuid = "7", .name = "A talk", .extra = R"({"decade":1970,"speaker":{"id":3}})"});
  EXPECT_EQ(asset["decade"], 1970);
  EXPECT_EQ(asset["speaker"]["id"], 3);
  EXPECT_EQ(asset["uuid"], "7");
}

TEST(ReportJson, TheReportsOwnNamesWinOverAListsFields) {
  const json asset = asset_of({.status = "done", .extra = R"({"status":"archived","speed":"fast","cost":9})"});
  EXPECT_EQ(asset["status"], "done");
  EXPECT_FALSE(asset.contains("speed")) << "no number of ours";
  EXPECT_FALSE(asset.contains("cost"));
}

TEST(ReportJson, AttemptsOfFailedRecordingShowDeviceEndAndReason) {
  const json tries = asset_of({.status = "failed",
                               .attempts = 3,
                               .tries = {{.number = 1, .device = "GPU-a", .end = AttemptEnd::orphaned},
                                         {.number = 2,
                                          .device = "GPU-b",
                                          .end = AttemptEnd::failed,
                                          .failure = "device",
                                          .error = "its worker crashed"}}})["tries"];
  ASSERT_EQ(tries.size(), 2U);
  EXPECT_EQ(tries[0], json::parse(R"({"device":"GPU-a","end":"orphaned"})"));
  EXPECT_EQ(tries[1],
            json::parse(R"({"device":"GPU-b","end":"failed","class":"device","error":"its worker crashed"})"));
  EXPECT_FALSE(asset_of({.attempts = 1}).contains("tries"));
}

TEST(ReportJson, NamesAudioNotesAndRecordingsWithoutSpeech) {
  const json asset = asset_of({.status = "done", .notes = {"channel 1"}, .without_speech = true});
  EXPECT_EQ(asset["audio_notes"], json::parse(R"(["channel 1"])"));
  EXPECT_EQ(asset["without_speech"], true);
  EXPECT_FALSE(asset_of({.status = "done"}).contains("audio_notes"));
  EXPECT_FALSE(asset_of({.status = "done"}).contains("without_speech"));
  EXPECT_EQ(reported({.without_speech = 3})["without_speech_in_this_run"], 3);
}

TEST(ReportJson, FieldsThatAreNoJsonObjectAreLeftOut) {
  for (const char* extra : {"", "[1]", "{\"a\":", "3"}) EXPECT_EQ(asset_of({.extra = extra}), asset_of({})) << extra;
}

TEST(ReportJson, DevicesShowTheirMeasuredEnergy) {
  BatchReport report;
  report.pool.devices = {{.id = "GPU-a"}, {.id = "GPU-b"}};
  report.device_joules = {{"GPU-a", 1234.5}};
  const json devices = reported(report)["devices"];
  EXPECT_EQ(devices[0]["energy_joules"], 1234.5);
  EXPECT_FALSE(devices[1].contains("energy_joules"));
}

TEST(ReportJson, SpeedOfClipsCountsOnlyTranscribedAudio) {
  const json asset = asset_of({.status = "done", .audio = Seconds(3600), .requested = Seconds(60), .busy = Seconds(5)});
  EXPECT_EQ(asset["speed"], 12);
  EXPECT_EQ(asset["audio_seconds"], 3600) << "it is as long as that";
}

TEST(ReportJson, ADevicesSpeedIsWhatItDidAndAbsentWhereItDidNothing) {
  BatchReport report;
  report.elapsed = Seconds(10);
  report.pool.devices = {{.id = "GPU-a", .speed = 40},
                         {.id = "GPU-b", .speed = 40, .audio_done = Seconds(100), .busy = Seconds(10)}};
  const json devices = reported(report)["devices"];
  EXPECT_FALSE(devices[0].contains("speed")) << "what was believed of it is no fact";
  EXPECT_EQ(devices[1]["speed"], 10);
}

TEST(ReportText, EarlierRunsResultsAreSeparateFromThisRuns) {
  BatchReport report;
  report.counts = {.total = 6, .done = 3, .failed = 2, .cancelled = 1};
  report.before = {.total = 3, .done = 1, .failed = 1, .cancelled = 1};
  report.done_now = 2;
  const std::string text = batch_report_text(report, {}, {});
  EXPECT_THAT(text, StartsWith("2 recordings done, 1 failed: "));
  EXPECT_THAT(text, HasSubstr("Done before this run: 1.\n"));
  EXPECT_THAT(text, HasSubstr("Failed in an earlier run and left alone: 1; retry_failed does them again.\n"));
  EXPECT_THAT(text, HasSubstr("Cancelled in an earlier run and left alone: 1; "));
}

TEST(ReportText, RecordingsWithoutSpeechAreCounted) {
  BatchReport report;
  report.counts = {.total = 5, .done = 5};
  report.done_now = 5;
  EXPECT_THAT(batch_report_text(report, {}, {}), testing::Not(HasSubstr("speech")));
  report.without_speech = 2;
  EXPECT_THAT(batch_report_text(report, {}, {}), HasSubstr("Without speech: 2. Their transcripts are empty"));
}

TEST(ReportText, WorkOfAConcurrentRunIsNotCountedAsDoneBefore) {
  BatchReport report;
  report.counts = {.total = 4, .done = 4};
  report.before = {.total = 1, .done = 1};
  report.done_now = 2;
  const std::string text = batch_report_text(report, {}, {});
  EXPECT_THAT(text, HasSubstr("Done before this run: 1.\nDone by another run meanwhile: 1.\n"));
}

TEST(ReportText, RunWithNothingToDoReportsOnlyThat) {
  BatchReport report;
  report.elapsed = Seconds(1);
  report.pool.devices = {{.id = "card", .rated = 30}};
  report.counts = report.before = {.total = 12, .done = 12};
  EXPECT_EQ(batch_report_text(report, {{"card", 2.0}}, {}),
            "All 12 recordings were done before this run: nothing was left to do.\n");
  report.counts = report.before = {.total = 12, .done = 11, .failed = 1};
  EXPECT_EQ(batch_report_text(report, {{"card", 2.0}}, {}),
            "Done before this run: 11.\nFailed in an earlier run and left alone: 1; retry_failed does them again.\n");
}

TEST(ReportJson, EveryReasonForWhichADeviceCanBeIdleHasItsWords) {
  for (std::size_t reason = 0; reason < kIdleReasons; ++reason) {
    const auto why = static_cast<Idle>(reason);
    BatchReport report;
    report.elapsed = Seconds(10);
    report.pool.devices = {{.id = "card", .idle = {{why, Seconds(10)}}}};
    const std::string text = batch_report_text(report, {}, {});
    EXPECT_NE(text.find("100 %"), std::string::npos) << name_of(why) << ":\n" << text;
  }
}

TEST(ReportJson, ReportShowsTheOutOfMemoryLossOfADevice) {
  BatchReport report;
  report.counts.total = 1;
  report.pool.devices = {{.id = "cuda:0"},
                         {.id = "cuda:1", .memory_loss = MemoryLoss{.times = 2, .all = 10, .least = 2, .now = 4}}};
  const json devices = reported(report)["devices"];
  EXPECT_FALSE(devices[0].contains("out_of_memory"));
  EXPECT_EQ(devices[1]["out_of_memory"],
            json::parse(R"({"times":2,"windows":10,"least_windows":2,"windows_at_end":4})"));
  EXPECT_THAT(batch_report_text(report, {}, {}),
              HasSubstr("Out of memory on cuda:1: 2 times; of 10 windows at once it was given as few as 2, and 4 at "
                        "the end.\n"));
}

TEST(ReportJson, RatedDeviceReportsMeasuredSpeed) {
  BatchReport report;
  report.elapsed = Seconds(10);
  report.pool.devices = {{.id = "card", .rated = 20, .audio_done = Seconds(140), .busy = Seconds(10)}};
  const json device = reported(report)["devices"][0];
  EXPECT_EQ(device["speed"], 14);
  EXPECT_EQ(device["rated_speed"], 20);
  EXPECT_EQ(reported(report)["lower_bound_seconds"], 7) << "by what it can do";
}
