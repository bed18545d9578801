// A JobRun over a source and a sink that are no store and no folder: recordings and transcripts in memory.

#include "transcribe/batch/job_run.h"

#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "jobs/open_store.h"
#include "support/environment.h"
#include "support/log_capture.h"
#include "support/never_stops.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"
#include "transcribe/pool/pool_plan.h"

using namespace tutti;

namespace {

/// Recordings by their bytes, which no file has a name for.
class MemoryJobs final : public JobSupply, public JobSource, public ResultSink {
 public:
  MemoryJobs(DevicePool& pool, const JobRunOptions& options, std::vector<std::string> recordings)
      : pool_(pool), options_(options), recordings_(std::move(recordings)) {}

  JobSource& source() override { return *this; }
  ResultSink& sink() override { return *this; }
  void serve(const ModelContext* model) override {
    model_.change([&](auto& loaded) { loaded = model; });
  }
  void stop_taking() override { next_ = recordings_.size(); }
  void hold_back(bool) override {}
  void abort() override {}
  RunSnapshot snapshot() const override {
    RunSnapshot snapshot{.counts = {.total = recordings_.size()}};
    snapshot.counts.done = done.with([](const auto& all) { return all.size(); });
    snapshot.counts.failed = failures.with([](const auto& all) { return all.size(); });
    return snapshot;
  }

  std::optional<ClaimedFile> next() override {
    if (next_ >= recordings_.size()) return {};
    const std::size_t index = next_++;
    pool_.add_job({.id = index + 1});
    return ClaimedFile{index, "recording " + std::to_string(index)};
  }
  Result<FetchedAudio> fetch(const ClaimedFile& file) override {
    auto memory = open_unnamed_file();
    if (!memory) return tl::unexpected(memory.error());
    const std::string& bytes = recordings_[file.index];
    if (auto written = write_all(memory->get(), std::as_bytes(std::span(bytes)), "memory"); !written)
      return tl::unexpected(written.error());
    return audio_in(std::move(*memory));
  }
  Result<void> on_audio_decoded(std::size_t, Seconds) override { return {}; }
  const TranscriptionContext* context(std::size_t index) override {
    const ModelContext* model =
        model_.wait([](const auto& loaded) { return loaded.has_value(); }, [](const auto& loaded) { return *loaded; });
    if (!model) return nullptr;
    return served_.with([&](auto& all) {
      auto& [engine, context] = all[index];
      if (!engine) engine = pool_.engine({.id = index + 1});
      if (!context) context.emplace(model->context(*engine, options_.run, on_progress_, true));
      return &*context;
    });
  }
  Result<void> publish(TranscribedFile& file) override {
    done.with([&](auto& all) { all[file.outcome.input.string()] = file.transcript; });
    end(file.outcome.index);
    return {};
  }
  void failed(std::size_t index, const Error& error) override {
    failures.with([&](auto& all) { all.push_back(error.text()); });
    end(index);
  }

  Guarded<std::map<std::string, Transcript>> done{};
  Guarded<std::vector<std::string>> failures{};

 private:
  using Served = std::pair<std::unique_ptr<JobEngine>, std::optional<TranscriptionContext>>;

  void end(std::size_t index) {
    const auto engine = served_.with([&](auto& all) { return std::move(all[index].first); });
    pool_.end_job(index + 1);
  }

  DevicePool& pool_;
  const JobRunOptions& options_;
  const std::vector<std::string> recordings_;
  const OnProgressOfFile on_progress_ = [](std::size_t, Seconds, const std::vector<Segment>&) {};
  std::atomic<std::size_t> next_{0};
  Guarded<std::optional<const ModelContext*>> model_{};
  Guarded<std::map<std::size_t, Served>> served_{};
};

class JobRunTest : public testing::Test {
 protected:
  void SetUp() override {
    ResolvedDevice card{.kind = ResolvedDevice::Kind::emulated, .name = "card"};
    card.card.speed = 300;
    card.card.time = 0.03;
    options_.run.build_id = "a build";
    options_.devices = {{.id = "card", .label = "card", .device = card}};
    options_.command = "a test";
  }
  std::string tone(Seconds length) {
    const auto path = folder_ / "tone.wav";
    write_tone(path, length.count(), 200);
    return *read_file(path);
  }

  ScopedVariable emulator_{"TUTTI_EMULATOR", TUTTI_BINARY_DIR "/bin/tutti"};
  ScopedVariable decoder_{"TUTTI_DECODER", TUTTI_BINARY_DIR "/bin/tutti"};
  LogCapture log_;
  TempFolder folder_;
  std::unique_ptr<JobStore> history_ = open_store({.url = folder_ / "state"}).value();
  JobRunOptions options_;
  NeverStops never_;
};

}  // namespace

TEST_F(JobRunTest, EnginesOfAnEmulatedCardHaveAGpu) {
  JobRun run(options_, plan_pool(options_, *history_).value(), *history_, never_);
  run.pool().add_job({.id = 1});
  EXPECT_TRUE(run.pool().engine({.id = 1})->has_gpu());
  run.pool().end_job(1);
  run.pool().stop(Seconds(0));
}

TEST_F(JobRunTest, JobsInMemoryAreTranscribedAndARunIsInTheHistory) {
  JobRun run(options_, plan_pool(options_, *history_).value(), *history_, never_);
  ASSERT_TRUE(run.begin());
  MemoryJobs jobs(run.pool(), options_, {tone(Seconds(3)), "no audio at all", tone(Seconds(40))});
  const auto worked = run.work(jobs, 3);
  ASSERT_TRUE(worked) << worked.error().text();
  run.pool().stop(Seconds(0));
  const BatchReport report = run.end(jobs.snapshot());
  const auto texts = jobs.done.with([](const auto& all) { return all; });
  ASSERT_EQ(texts.size(), 2U);
  for (const auto& [name, transcript] : texts) EXPECT_FALSE(transcript.segments.empty()) << name;
  EXPECT_TRUE(texts.contains("recording 2"));
  const auto failures = jobs.failures.with([](const auto& all) { return all; });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("recording 1"), std::string::npos) << failures[0];
  EXPECT_EQ(report.summary.done, 2U);
  const RunRecord past = history_->runs(1)->at(0);
  EXPECT_EQ(past.start.command, "a test");
  EXPECT_EQ(past.end.successful, 2);
  EXPECT_EQ(past.end.failed, 1);
  ASSERT_EQ(past.end.devices.size(), 1U);
  EXPECT_GT(past.end.devices[0].audio, Seconds(40));
}

TEST_F(JobRunTest, StatusShowsTheDevicesOfARunWithoutAStore) {
  JobRun run(options_, plan_pool(options_, *history_).value(), *history_, never_);
  ASSERT_TRUE(run.begin());
  const FleetStatus status = run.status({.counts = {.total = 7, .done = 3}}, nullptr);
  EXPECT_EQ(status.jobs, 7U);
  EXPECT_EQ(status.done, 3U);
  ASSERT_EQ(status.devices.size(), 1U);
  EXPECT_EQ(status.devices[0].id, "card");
  EXPECT_EQ(status.state_folder, "");
}
