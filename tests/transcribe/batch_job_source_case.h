#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "base/files.h"
#include "jobs/fake_store_clock.h"
#include "jobs/open_store.h"
#include "support/log_capture.h"
#include "support/run_sql.h"
#include "support/temp_folder.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/counting_pool.h"
#include "transcribe/model_context.h"

namespace tutti {

/// Jobs of a batch on a real store, and a pool that only counts.
class BatchJobSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.run.batched = true;
    options_.staging = folder_ / "out" / ".tmp";
    store_ = open_store({.url = folder_ / "state", .clock = &clock_}).value();
    begin();
  }

  /// A run of the command, after the one before.
  void begin() {
    run_ = store_->begin_run({.command = "tutti batch", .batch = "b"}).value();
    files_.emplace(options_, *store_, pool_, observer_);
  }

  JobSource& source() { return files_->source(); }

  JobId add(const std::string& name, const JobSpec& urgency = {}) {
    const auto input = folder_ / (name + ".wav");
    EXPECT_TRUE(write_file_atomically(input, "the sound of " + name));
    return submit(input, {100, 7}, Seconds(10), urgency);
  }
  /// Of which nothing is known, not even that it is there.
  JobId add_missing(const std::string& path) { return submit(folder_ / path, {}, {}); }

  JobId submit(const std::filesystem::path& input, InputIdentity identity, std::optional<Seconds> audio,
               const JobSpec& urgency = {}, std::vector<Format> formats = {}) {
    BatchJob& job = jobs_.emplace_back();
    job.formats = std::move(formats);
    job.spec = {.key = urgency.key.empty() ? "/out/" + input.stem().string() : urgency.key,
                .batch = "b",
                .input = input,
                .identity = identity,
                .options = "tiny",
                .job_class = urgency.job_class,
                .deadline = urgency.deadline};
    const Submitted answer = store_->submit(run_, {&job.spec, 1})->front();
    const BatchEntry requested = entry_of(answer, job, audio);
    files_->queue().add({&requested, 1});
    return answer.id;
  }

  /// Sets the output of the latest job.
  void writes_to(const std::filesystem::path& output) {
    jobs_.back().spec.key = output.parent_path() / output.stem();
    jobs_.back().formats = parse_formats(output.extension().string().substr(1)).value();
  }

  Job job(JobId id) { return store_->jobs({.ids = {id}}, 0, 1)->front(); }

  /// Changes the database as another process does.
  void in_database(const std::string& statement) { run_sql(folder_ / "state/tutti.sqlite", statement); }

  LogCapture log_;
  TempFolder folder_;
  FakeStoreClock clock_;
  BatchOptions options_;
  BatchObserver observer_;
  CountingPool pool_;
  ModelContext model_ =
      spoken_model(Tokenizer::built_in(51865).value(),
                   {.n_mels = 80, .n_audio_ctx = 1500, .n_text_ctx = 448, .n_vocab = 51865}, options_.run)
          .value();
  std::unique_ptr<JobStore> store_;
  RunId run_ = 0;
  std::deque<BatchJob> jobs_;
  std::optional<BatchJobs> files_;
};

}  // namespace tutti
