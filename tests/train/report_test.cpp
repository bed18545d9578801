#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>

#include "advise/pipeline_run.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "profile/recording_file.h"
#include "support/fake_clock.h"
#include "support/log_capture.h"
#include "support/scoped_recording.h"
#include "support/small_files.h"
#include "support/temp_folder.h"
#include "train/report/epoch_report.h"
#include "train/report/load_track.h"
#include "train/report/loss_picture.h"
#include "train/report/machine_line.h"
#include "train/report/progress_line.h"
#include "train/report/reporter.h"
#include "train/report/tensorboard_writer.h"
#include "train/report/training_log.h"

namespace tutti {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;
const RowIds kNoIds;

TEST(MachineLine, ShowsOnlyKnownValues) {
  EXPECT_EQ(machine_text({.gpu = 0.85,
                          .gpu_used = Bytes{12 * kGigabyte},
                          .gpu_total = Bytes{24 * kGigabyte},
                          .cpu = 0.452,
                          .memory_used = Bytes{16 * kGigabyte},
                          .memory_total = Bytes{64 * kGigabyte}}),
            "GPU: 85% | VRAM:12.0/24.0GB(50.0%) | CPU: 45.2% | RAM:16.0/64.0GB(25.0%)");
  EXPECT_EQ(machine_text({.cpu = 0.5}), "CPU: 50.0%");
  EXPECT_EQ(machine_text({}), "");
}

std::shared_ptr<const MachineSnapshot> busy_at(std::uint64_t number, double busy) {
  MachineSnapshot snapshot;
  snapshot.number = number;
  snapshot.host.busy = busy;
  return std::make_shared<const MachineSnapshot>(std::move(snapshot));
}

TEST(MachineLine, IsTheMeanOfItsSnapshotsEachTakenOnce) {
  MachineLine line({});
  line.take(busy_at(1, 0.2));
  line.take(busy_at(2, 0.6));
  line.take(busy_at(2, 0.6));
  EXPECT_EQ(machine_text(line.load()), "CPU: 40.0%");
}

/// A snapshot of second `at` in which GPU 0 is so busy.
std::shared_ptr<const MachineSnapshot> gpu_at(std::uint64_t number, double at, double busy) {
  MachineSnapshot snapshot;
  snapshot.number = number;
  snapshot.when = Clock::Instant(std::chrono::duration_cast<Clock::Instant::duration>(Seconds(at)));
  GpuSnapshot gpu;
  gpu.cuda_order = 0;
  gpu.utilisation.gpu = busy;
  snapshot.gpus.push_back(std::move(gpu));
  return std::make_shared<const MachineSnapshot>(std::move(snapshot));
}

TEST(LoadTrack, MeanIsWeightedByTimeAndPausesHardlyCount) {
  LoadTrack track(0);
  track.take(gpu_at(1, 10, 0.9));
  EXPECT_TRUE(track.gpu().is_empty()) << "the first one is about the time before";
  track.take(gpu_at(2, 11, 0.1));
  track.take(gpu_at(3, 11.5, 0.7));
  EXPECT_NEAR(track.gpu().mean(), (0.1 + 0.35) / 1.5, 1e-9);
  track.take(gpu_at(4, 71.5, 0));  // after an evaluation of a minute
  EXPECT_NEAR(track.gpu().mean(), (0.1 + 0.35) / 3.5, 1e-9);
  EXPECT_NEAR(*track.load().gpu, track.gpu().mean(), 1e-9);
}

TEST(LoaderTimes, HasTheLineOfTheFieldNote) {
  EXPECT_EQ(loader_line({}), "");
  std::vector<Seconds> waits;
  for (int i = 0; i < 40; ++i) waits.emplace_back(i % 10 == 9 ? 0.0781 : 0.02);
  EXPECT_EQ(loader_line(waits),
            "[TRAIN PROFILE] DataLoader avg: 25.8ms, max: 78.1ms, median: 20.0ms, min: 20.0ms; above 50 ms: 4 of 40, "
            "every 10 steps; uneven: more than 5 % of the steps waited long");
}

/// An epoch in which steps wait for `waiting` of the time; the feed's stage "decode" has two threads.
RunRecording epoch_waiting(double waiting) {
  RunRecording recording{.command = "train", .unit = "steps", .cores = 16};
  const double step = 0.1, whole = step / (1 - waiting);
  recording.elapsed = Seconds(100 * whole);
  recording.stages.push_back({.name = "decode",
                              .threads = 2,
                              .queue = 3,
                              .threads_flag = field("threads"),
                              .items = std::vector<Seconds>(100, Seconds(waiting > 0 ? 2 * whole : step))});
  recording.stages.push_back(
      {.name = "step", .resource = StageResource::device, .items = std::vector<Seconds>(100, Seconds(step))});
  return recording;
}

TEST(UseWarning, BusyDeviceIsNotWarnedAbout) {
  const auto recording = epoch_waiting(0);
  EXPECT_TRUE(low_use_warning({.use = {.busy = 0.31}}, recording, diagnose_briefly(recording)).empty());
}

TEST(UseWarning, SlowFeedIsNamedWithItsThreadsAndTheGain) {
  const auto recording = epoch_waiting(0.8);
  const auto lines =
      low_use_warning({.use = {.busy = 0.11, .waiting = 0.8, .host = 0.2}, .device = "cuda:0", .batch = 16}, recording,
                      diagnose_briefly(recording));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "⚠️  LOW GPU UTILIZATION (11.0%)! Possible bottlenecks:");
  EXPECT_NE(lines[1].find("'decode' faster (current: 2). threads "), std::string::npos) << lines[1];
  EXPECT_EQ(lines[1].find("batch_size"), std::string::npos) << lines[1];
}

TEST(UseWarning, StepBoundByTheProcessorDoesNotBlameTheLoader) {
  const auto recording = epoch_waiting(0);
  const auto lines =
      low_use_warning({.use = {.busy = 0.11, .waiting = 0.02, .host = 0.95}, .device = "cuda:0", .batch = 16},
                      recording, diagnose_briefly(recording));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[1].find("Increase batch_size (current: 16)"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("32 is predicted to gain 77 %"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[1].find("threads"), std::string::npos) << lines[1];
}

TEST(ProgressLine, HasStepLossRateAndTheTimeLeft) {
  EXPECT_EQ(progress_text({.step = 12,
                           .steps = 400,
                           .epoch = 1,
                           .loss = 0.4821,
                           .rate = 3e-4,
                           .samples_per_second = 41,
                           .seconds_left = 62},
                          "CPU: 50.0%"),
            "step 12/400 | epoch 2 | loss 0.48 | rate 0.0003 | 41.0 samples/s | 1:02 left | CPU: 50.0%");
}

TEST(ProgressLine, TimeBetweenStepsCountsInTheTimeLeft) {
  testing::internal::CaptureStderr();
  FakeClock clock;
  ProgressLine line(1, Seconds(0), clock);
  const StepOutcome outcome{.loss = 1, .samples = 4};
  for (std::int64_t step = 1; step <= 10; ++step) {
    clock.advance(std::chrono::seconds(step == 6 ? 21 : 1));  // after the fifth step the network was evaluated
    const TrainingState state{.step = step};
    line.stepped({.state = state, .outcome = outcome, .ids = kNoIds, .steps = 20, .seconds = 1}, "");
  }
  const auto decoder_input = testing::internal::GetCapturedStderr();
  const auto of_step = [&](const std::string& step) {
    const auto at = decoder_input.find("step " + step + "/20");
    return decoder_input.substr(at, decoder_input.find('\n', at) - at);
  };
  EXPECT_NE(of_step("5").find("| 0:15 left"), std::string::npos) << decoder_input;
  EXPECT_NE(of_step("10").find("| 0:30 left"), std::string::npos) << "ten steps, and two seconds for each:\n"
                                                                  << decoder_input;
}

/// CRC-32C of "123456789" is e3069283; the mask is TensorFlow's.
TEST(EventFile, FramesItsRecordsAsTensorBoardReadsThem) {
  const EventScalar scalar{"a", 1.5};
  const auto record = event_record(2.0, 300, {&scalar, 1});
  std::uint64_t size = 0;
  std::memcpy(&size, record.data(), sizeof size);
  ASSERT_EQ(record.size(), size + 16);
  const std::string message = record.substr(12, size);
  // wall_time = 2, step = 300 (two bytes of varint), summary { value { tag: "a" simple_value: 1.5 } }
  const std::string expected("\x09\0\0\0\0\0\0\0\x40\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01\x61\x15\0\0\xc0\x3f", 24);
  EXPECT_EQ(message, expected);
}

TEST(GrowingFile, FailedWriteWarnsOnceWithRemedyAndEndsNothing) {
  const TempFolder folder;
  LogCapture log;
  auto events = EventFile::create(folder.path());
  auto lines = JsonLines::open(folder / "metrics.jsonl", 0);
  ASSERT_TRUE(events && lines);
  const SmallFiles limit(1024);
  const EventScalar loss{"train/loss", 1.5};
  for (std::int64_t step = 0; step < 100; ++step) {
    events->add(step, {&loss, 1});
    lines->add("{\"step\":" + std::to_string(step) + "}");
  }
  EXPECT_EQ(log.count("File too large"), 2) << "once of each";
  EXPECT_EQ(log.count("ulimit -f"), 2);
  EXPECT_LE(std::filesystem::file_size(folder / "metrics.jsonl"), 1024U);
}

TEST(JsonLines, LinesAfterTheResumedStepAreDropped) {
  const TempFolder folder;
  const auto path = folder / "m.jsonl";
  ASSERT_TRUE(write_file_atomically(path, "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4"));
  JsonLines::open(path, 2).value().add("{\"step\":3,\"new\":true}");
  EXPECT_EQ(read_file(path).value(), "{\"step\":1}\n{\"step\":2}\n{\"step\":3,\"new\":true}\n");
  EXPECT_TRUE(JsonLines::open(path, 0));
  EXPECT_EQ(read_file(path).value(), "");
}

TEST(JsonLines, AnEvaluationThatIsToBeMadeAgainIsDropped) {
  const TempFolder folder;
  const auto path = folder / "m.jsonl";
  const std::string steps = "{\"step\":1,\"evaluation\":{}}\n{\"step\":2}\n", due = "{\"step\":2,\"evaluation\":{}}\n";
  ASSERT_TRUE(write_file_atomically(path, steps + due));
  ASSERT_TRUE(JsonLines::open(path, 2));
  EXPECT_EQ(read_file(path).value(), steps + due);
  ASSERT_TRUE(JsonLines::open(path, 2, /*evaluation_due=*/true));
  EXPECT_EQ(read_file(path).value(), steps);
}

TEST(TrainingLog, AnIdThatIsNoUtf8EndsNoTraining) {
  const TempFolder folder;
  auto log = TrainingLog::open({.out = folder.path(), .log_order = true});
  ASSERT_TRUE(log);
  const TrainingState state{.step = 1};
  const StepOutcome outcome{};
  const RowIds ids({"a\xff"});
  log->stepped({.state = state, .outcome = outcome, .ids = ids, .seconds = 1});
  EXPECT_EQ(read_file(folder / "order.jsonl").value(), "{\"step\":1,\"epoch\":0,\"ids\":[\"a\xef\xbf\xbd\"]}\n");
}

/// A step of four samples and one second.
void report_loss(TrainingLog& log, std::int64_t step, double loss) {
  const TrainingState state{.step = step};
  const StepOutcome outcome{
      .loss = loss, .samples = 4, .frames = {.computed = 100 * step, .padding = 50, .filled_up = 40}};
  log.stepped({.state = state, .outcome = outcome, .ids = kNoIds, .seconds = 1});
}

TEST(TrainingLog, AStepThatIsNoNumberDoesNotTakeTheOthersLosses) {
  const TempFolder folder;
  auto log = TrainingLog::open({.out = folder.path(), .log_steps = 3}).value();
  report_loss(log, 1, 1);
  report_loss(log, 2, std::nan(""));
  report_loss(log, 3, 3);
  const auto line = nlohmann::json::parse(read_file(folder / "metrics.jsonl").value());
  EXPECT_EQ(line["loss"], 2.0);
  EXPECT_EQ(line["samples"], 12) << "of all three";
  EXPECT_EQ(line["frames"], 600) << "likewise";
  EXPECT_EQ(line["padding"], 150);
  EXPECT_EQ(line["filled_up"], 120);
}

TEST(TrainingLog, ALineHasTheLoadOfTheMachineAsFarAsItIsKnown) {
  const TempFolder folder;
  auto log = TrainingLog::open({.out = folder.path(), .log_steps = 1}).value();
  const TrainingState state{.step = 1};
  const StepOutcome outcome{.loss = 1, .samples = 4};
  log.stepped({.state = state, .outcome = outcome, .ids = kNoIds, .seconds = 1}, {.cpu = 0.75});
  const auto line = nlohmann::json::parse(read_file(folder / "metrics.jsonl").value());
  EXPECT_EQ(line["cpu"], 0.75);
  EXPECT_FALSE(line.contains("gpu")) << line;
}

TEST(TrainingLog, StepsAfterTheLastLineAreLoggedAtTheEnd) {
  const TempFolder folder;
  auto log = TrainingLog::open({.out = folder.path(), .log_steps = 10}).value();
  for (std::int64_t step = 1; step <= 12; ++step) report_loss(log, step, 1);
  log.ended();
  log.ended();
  std::istringstream lines(read_file(folder / "metrics.jsonl").value());
  std::vector<std::int64_t> steps, samples;
  for (std::string line; std::getline(lines, line);) {
    steps.push_back(nlohmann::json::parse(line)["step"]);
    samples.push_back(nlohmann::json::parse(line)["samples"]);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{10, 12}));
  EXPECT_EQ(samples, (std::vector<std::int64_t>{40, 8}));
}

TEST(EpochReport, WaitForOtherRanksIsNotBlamedOnTheFeed) {
  FeedReport feed;
  feed.stages.stages.resize(1);
  feed.stages.stages[0].name = "decode";
  feed.stages.stages[0].times.busy = std::chrono::seconds(1);
  const auto decoder_input = [&](Seconds for_ring) {
    return epoch_report(feed, {.waiting = for_ring}, {.stepping = 60, .waiting = 40}, {}).back();
  };
  EXPECT_EQ(decoder_input(Seconds(40)),
            "  training waited 40 % of its time for the feed; its stage 'decode' limits it");
  feed.stages.stages[0].name = "read";
  EXPECT_EQ(
      decoder_input(Seconds(40)),
      "  training waited 40 % of its time for the feed; its stage 'read' limits it; more read-threads wait for more "
      "files at once");
  EXPECT_EQ(decoder_input(Seconds(1)), "  training waited 39 % of its time for the feeds of other processes");
  feed.held_up = Seconds(30);
  EXPECT_EQ(decoder_input(Seconds(40)),
            "  training waited 40 % of its time for the feed; its stage 'read' limits it; slow files held up batches "
            "that were whole, and order any lets these come first");
}

TEST(EpochReport, PaddingIsShownWithAndWithoutFilledUpBatches) {
  const auto decoder_input = [](const FrameCounts& frames) {
    return epoch_report(FeedReport{}, {}, {}, frames).back();
  };
  EXPECT_EQ(decoder_input({}), "  unusable samples so far 0") << "nothing was computed";
  EXPECT_EQ(decoder_input({.computed = 200, .padding = 20}), "  padding 10 %, unusable samples so far 0");
  EXPECT_EQ(decoder_input({.computed = 1000, .padding = 820, .filled_up = 800}),
            "  padding 82 %, 10 % but for batches filled up to the window on purpose, unusable samples so far 0");
}

/// A reporter over a feed of one stage and a ring, whose epochs have one step each.
struct WatchedTraining {
  const TempFolder folder{};
  std::unique_ptr<Reporter> reporter = Reporter::open({.out = folder.path(), .log_steps = 1000}).value();
  Histogram waits{};
  FeedReport feed{};
  RingReport ring{.depth = 3};

  WatchedTraining() {
    feed.stages.stages.resize(1);
    feed.stages.stages[0].name = "decode";
    reporter->watch_feed([this] { return feed; });
    reporter->watch_ring([this] { return ring; });
  }

  /// The report of an epoch whose single step waited for `waited` seconds.
  std::string epoch(std::int64_t step, double waited, std::chrono::seconds busy, std::chrono::seconds blocked) {
    auto& times = feed.stages.stages[0].times;
    times.busy += busy;
    times.blocked += blocked;
    feed.batches += 1;
    waits.record(waited);
    ring.batches += 1;
    ring.spikes += waited > 0.05;
    ring.waiting += Seconds(waited);
    ring.stepping += Seconds(1);
    ring.waits = waits.snapshot();
    testing::internal::CaptureStderr();
    const TrainingState state{.step = step, .epoch = step - 1};
    const StepOutcome outcome{.loss = 1, .samples = 4, .frames = {.computed = 200, .padding = step == 1 ? 100 : 0}};
    reporter->stepped({.state = state,
                       .outcome = outcome,
                       .ids = kNoIds,
                       .waited = waited,
                       .seconds = 1 + waited,
                       .ends_epoch = true});
    return testing::internal::GetCapturedStderr();
  }
};

TEST(Reporter, EpochReportCoversOnlyItsOwnFeedAndRingTimes) {
  WatchedTraining training;
  const auto first = training.epoch(1, 1.0, std::chrono::seconds(9), std::chrono::seconds(1));
  EXPECT_NE(first.find("decode: busy 90 %, starved 0 %, blocked 10 %"), std::string::npos) << first;
  EXPECT_NE(first.find("steps took 50 % of the time"), std::string::npos) << first;
  EXPECT_NE(first.find("above 50 ms: 1 of 1 batch"), std::string::npos) << first;
  EXPECT_NE(first.find("padding 50 %"), std::string::npos) << first;
  const auto second = training.epoch(2, 0.01, std::chrono::seconds(1), std::chrono::seconds(9));
  EXPECT_NE(second.find("decode: busy 10 %, starved 0 %, blocked 90 %"), std::string::npos) << second;
  EXPECT_NE(second.find("steps took 99 % of the time"), std::string::npos) << second;
  EXPECT_NE(second.find("above 50 ms: 0 of 1"), std::string::npos) << second;
  EXPECT_EQ(second.find("longest 1000"), std::string::npos) << second;
  EXPECT_NE(second.find("padding 0 %"), std::string::npos) << second;
  const auto third = epoch_report(training.feed.since(training.feed), training.ring.since(training.ring), {}, {});
  EXPECT_EQ(third[0], "  the feed had made all of its batches before");
}

TEST(Reporter, EpochReportHasTheShareOfMakingBatches) {
  const RingReport ring{
      .stepping = Seconds(8), .waiting = Seconds(2), .fetching = Seconds(1), .transferring = Seconds(6)};
  const auto lines = epoch_report(std::nullopt, ring, {}, {});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], "  the next batches were made meanwhile, in 70 % of the time");
  EXPECT_EQ(epoch_report(std::nullopt, {.stepping = Seconds(8)}, {}, {}).size(), 1U);
}

/// What is reported of an epoch of 14 steps, the first two of which waited 9 s each and the others hardly.
std::string epoch_with_a_slow_start(const RecordingRequest& request) {
  const ScopedRecording profiled(request);
  WatchedTraining training;
  std::string all;
  for (std::int64_t step = 1; step <= 14; ++step) {
    const double waited = step <= 2 ? 9 : 0.01;
    training.ring.waiting += Seconds(waited);
    training.ring.stepping += Seconds(0.2);
    testing::internal::CaptureStderr();
    const TrainingState state{.step = step, .epoch = 1};
    training.reporter->stepped({.state = state,
                                .outcome = {.loss = 1, .samples = 4},
                                .ids = kNoIds,
                                .waited = waited,
                                .seconds = 0.2 + waited,
                                .ends_epoch = step == 14});
    all += testing::internal::GetCapturedStderr();
  }
  return all;
}

TEST(Reporter, WarmUpIsNoReasonForAWarning) {
  const auto whole = epoch_with_a_slow_start({});
  EXPECT_NE(whole.find("LOW GPU UTILIZATION"), std::string::npos) << whole;
  const auto measured = epoch_with_a_slow_start({.recording = "/nowhere/recording.json", .warm_up = 2});
  EXPECT_EQ(measured.find("LOW GPU UTILIZATION"), std::string::npos) << measured;
  EXPECT_NE(measured.find("steps took 95 % of the time"), std::string::npos) << measured;
}

TEST(Reporter, RecordingBeginsBehindTheFeedsStart) {
  const TempFolder folder;
  const auto file = folder / "recording.json";
  const ScopedRecording profiled({.recording = file});
  WatchedTraining training;
  testing::internal::CaptureStderr();
  for (std::int64_t step = 1; step <= 12; ++step) {
    // Before the first step the feed fills its queues.
    const double waited = step == 1 ? 60 : 0.4;
    const auto now = Clock::real().now();
    BatchTimes made;
    made.feed.add("decode", {Seconds(0.5), now - std::chrono::milliseconds(500), now});
    training.reporter->stepped({.state = {.step = step, .epoch = 0},
                                .outcome = {.loss = 1, .samples = 4},
                                .ids = kNoIds,
                                .waited = waited,
                                .seconds = 0.1 + waited,
                                .made = made});
  }
  training.reporter->ended({.step = 12, .epoch = 0}, TrainingEnd::finished);
  testing::internal::GetCapturedStderr();
  const auto recording = read_recording(file);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_NEAR(recording->elapsed.count(), 11 * 0.5, 1e-6) << "the first step is its beginning";
  ASSERT_EQ(recording->stages[0].name, "decode");
  ASSERT_EQ(recording->stages[0].items.size(), 11U);
  EXPECT_NEAR(recording->stages[0].items[0].count(), 0.5, 1e-3);
  EXPECT_LT(model_error(*recording), kMostModelError);
}

TEST(Reporter, RefusedSampleIsReportedOnceForAnyName) {
  const TempFolder folder;
  for (int run = 0; run < 2; ++run) {
    const auto reporter = Reporter::open({.out = folder.path()});
    ASSERT_TRUE(reporter);
    for (int epoch = 0; epoch < 3; ++epoch) (*reporter)->refused("long", "its text takes too many tokens");
    if (run == 1) (*reporter)->refused("b\xff", "likewise");
  }
  const auto decoder_input = read_file(folder / "bad_samples.jsonl").value();
  EXPECT_EQ(std::ranges::count(decoder_input, '\n'), 2) << decoder_input;
  EXPECT_NE(decoder_input.find("takes too many"), std::string::npos) << decoder_input;
}

TEST(LossPicture, DrawsTheCurvesOfAMetricsFile) {
  const auto svg = loss_picture(
      "{\"step\":1,\"loss\":2.0,\"samples\":4,\"seconds\":2,\"waited\":1}\n{\"step\":2,\"loss\":null}\n"
      "{\"step\":3,\"loss\":1.0,\"samples\":4,\"seconds\":2,\"waited\":0}\n{\"step\":3,\"evaluation\":{\"wer\":0.25}}"
      "\n");
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find("polyline"), std::string::npos);
  EXPECT_NE(svg.find("0.25"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("busy"), std::string::npos) << "of a machine of which nothing was known";
  EXPECT_EQ(svg.find("padding"), std::string::npos) << "of lines that did not count frames";
  const auto loaded = loss_picture("{\"step\":1,\"loss\":2.0,\"cpu\":0.5}\n{\"step\":2,\"loss\":2.0,\"cpu\":0.75}\n");
  EXPECT_NE(loaded.find("CPU, share of the time busy"), std::string::npos);
  EXPECT_NE(loaded.find(">0.75<"), std::string::npos) << loaded;
  EXPECT_EQ(loaded.find("GPU"), std::string::npos);
  const auto padded = loss_picture(
      "{\"step\":1,\"loss\":2.0,\"frames\":100,\"padding\":20}\n"
      "{\"step\":2,\"loss\":2.0,\"frames\":100,\"padding\":75}\n");
  EXPECT_NE(padded.find("share of the frames that is padding"), std::string::npos);
  EXPECT_NE(padded.find(">0.75<"), std::string::npos) << padded;
}

}  // namespace
}  // namespace tutti
