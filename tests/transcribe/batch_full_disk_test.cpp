// What a batch does with finished transcripts while there is no space for them, or no permission to write them.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <future>

#include "base/error.h"
#include "support/closed_folder.h"
#include "support/full_disk.h"
#include "support/small_files.h"
#include "transcribe/batch_job_source_case.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

class BatchOnAFullDisk : public BatchJobSourceTest {
 protected:
  /// Claims the next job and gives it a transcript of a megabyte.
  TranscribedFile take_and_transcribe() {
    TranscribedFile file;
    const auto taken = source().next();
    EXPECT_TRUE(taken);
    if (taken) file.outcome.index = taken->index;
    file.transcript.segments = {{.end = 10, .text = std::string(1 << 20, 'x')}};
    return file;
  }
};

}  // namespace

TEST_F(BatchOnAFullDisk, FullDiskIsWaitedForWithoutRedoingTranscripts) {
  const JobId id = add("a");
  writes_to(folder_ / "out" / "a.txt");
  add("b");
  files_->queue().all_added();
  TranscribedFile file = take_and_transcribe();
  std::future<Result<void>> published;
  std::future<std::optional<ClaimedFile>> second;
  {
    const FullDisk full(1 << 16);
    published = std::async(std::launch::async, [&] { return files_->sink().publish(file); });
    log_.wait_for("no recording is begun");
    second = std::async(std::launch::async, [&] { return source().next(); });
    EXPECT_TRUE(pool_.is_reported(Idle::disk_full));
    EXPECT_NE(files_->snapshot().held_up, "");
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    EXPECT_EQ(published.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    EXPECT_EQ(job(id).state, JobState::running);
  }
  EXPECT_TRUE(published.get());
  EXPECT_TRUE(second.get());
  EXPECT_GE(read_file(folder_ / "out" / "a.txt")->size(), 1U << 20);
  EXPECT_EQ(job(id).state, JobState::done);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_EQ(job(id).strikes, 0);
  EXPECT_EQ(files_->snapshot().held_up, "");
}

TEST_F(BatchOnAFullDisk, UnwritableOutputFolderPausesBatchAndKeepsWorkStaged) {
  options_.kept = folder_ / "state" / "kept";
  const fs::path out = folder_ / "out";
  fs::create_directories(out);
  const JobId id = add("a");
  writes_to(out / "a.txt");
  add("b");
  files_->queue().all_added();
  TranscribedFile file = take_and_transcribe();
  std::future<std::optional<ClaimedFile>> second;
  {
    const ClosedFolder closed(out);
    EXPECT_EQ(files_->sink().publish(file).error().fault, Fault::cancelled) << "there is no more to do for it";
    EXPECT_EQ(job(id).state, JobState::done);
    EXPECT_FALSE(fs::is_empty(options_.kept));
    EXPECT_EQ(files_->snapshot().counts.done + files_->snapshot().counts.failed, 0U);
    second = std::async(std::launch::async, [&] { return source().next(); });
    EXPECT_TRUE(pool_.is_reported(Idle::not_writable));
    EXPECT_NE(files_->snapshot().held_up.find("Permission denied"), std::string::npos) << files_->snapshot().held_up;
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  }
  EXPECT_TRUE(second.get());
  EXPECT_GE(read_file(out / "a.txt")->size(), 1U << 20);
  EXPECT_EQ(files_->snapshot().counts.done, 1U);
  EXPECT_EQ(files_->snapshot().held_up, "");
  EXPECT_TRUE(fs::is_empty(options_.kept));
  EXPECT_EQ(log_.count("Make that writable again"), 1);
}

TEST_F(BatchOnAFullDisk, OneUnwritableSubfolderDelaysNoOtherRecording) {
  const fs::path talks = folder_ / "out" / "talks";
  fs::create_directories(talks);
  const JobId id = add("a");
  writes_to(talks / "a.txt");
  add("b");
  files_->queue().all_added();
  TranscribedFile file = take_and_transcribe();
  file.outcome.requested = Seconds(4);
  {
    const ClosedFolder closed(talks);
    EXPECT_FALSE(files_->sink().publish(file));
    EXPECT_EQ(files_->snapshot().held_up, "");
    EXPECT_EQ(files_->snapshot().counts.failed, 1U);
    EXPECT_TRUE(source().next());
  }
  files_->release("the run ended");
  EXPECT_EQ(files_->snapshot().counts.failed, 0U) << "it is tried again at the end";
  EXPECT_EQ(files_->snapshot().done.recordings, 1U) << "this run has done it, and none before";
  EXPECT_EQ(files_->snapshot().done.audio, Seconds(10));
  EXPECT_EQ(files_->snapshot().done.requested, Seconds(4)) << "only clips of the recording were requested";
  EXPECT_EQ(files_->jobs().take_entries().at(id).requested, Seconds(4));
  EXPECT_EQ(files_->snapshot().before.done, 0U);
  EXPECT_GE(read_file(talks / "a.txt")->size(), 1U << 20);
}

TEST_F(BatchOnAFullDisk, FullDiskForDecodedAudioWaitsWithoutBlamingRecording) {
  const JobId id = add("a");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  std::atomic<bool> full = true;
  const auto decode = [&]() -> Result<Recording> {
    if (full) return tl::unexpected(system_error("the temporary file", "could not be written", ENOSPC));
    return Recording(OwnedFd(), 160'000, {});
  };
  auto decoded = std::async(std::launch::async, [&] { return source().decoded(taken->index, decode); });
  log_.wait_for("recordings are decoded there as soon as there is space");
  EXPECT_TRUE(pool_.is_reported(Idle::disk_full)) << "although nothing but this one is left";
  EXPECT_NE(files_->snapshot().held_up.find("(TMPDIR)"), std::string::npos) << files_->snapshot().held_up;
  EXPECT_EQ(files_->snapshot().in_work.at(0).waiting_for, "its decoded audio has no disk space");
  EXPECT_EQ(decoded.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  full = false;
  EXPECT_EQ(decoded.get()->samples(), 160'000);
  EXPECT_NE(files_->snapshot().in_work.at(0).waiting_for, "its decoded audio has no disk space");
  EXPECT_TRUE(pool_.is_reported(std::nullopt));
  EXPECT_EQ(files_->snapshot().held_up, "");
  EXPECT_EQ(job(id).state, JobState::running);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_EQ(job(id).strikes, 0);
  EXPECT_EQ(log_.count("could not be written"), 1);
}

TEST_F(BatchOnAFullDisk, CancelledOrStoppedRecordingDoesNotWaitForSpace) {
  const JobId id = add("a");
  add("b");
  files_->queue().all_added();
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  const auto decode = []() -> Result<Recording> { return fail(Fault::full, "the temporary file: no room"); };
  const auto waits = [&](std::size_t index) {
    return std::async(std::launch::async, [&, index] { return source().decoded(index, decode); });
  };
  auto one = waits(first->index), other = waits(second->index);
  log_.wait_for("no recording is begun");
  ASSERT_TRUE(files_->cancel(id));
  EXPECT_EQ(one.get().error().fault, Fault::cancelled);
  EXPECT_EQ(other.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  files_->abort();
  EXPECT_EQ(other.get().error().fault, Fault::cancelled);
}

TEST_F(BatchOnAFullDisk, FileSizeLimitFailsTheJobPermanentlyWithoutWaiting) {
  const JobId id = add("a");
  writes_to(folder_ / "out" / "a.txt");
  files_->queue().all_added();
  TranscribedFile file = take_and_transcribe();
  const auto published = [&] {
    const SmallFiles limit(1 << 16);
    return files_->sink().publish(file);
  }();
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().fault, Fault::refused);
  EXPECT_EQ(log_.count("no recording is begun"), 0);
  source().failed(file.outcome.index, published.error());
  EXPECT_EQ(job(id).state, JobState::dead);
  EXPECT_NE(files_->snapshot().failures.front().error.find("ulimit -f"), std::string::npos);
}

TEST_F(BatchOnAFullDisk, AudioLargerThanTheDiskFailsAtOnce) {
  submit(folder_ / "endless.wav", {100, 7}, Seconds(1e12));
  ASSERT_TRUE(write_file_atomically(folder_ / "endless.wav", "on and on"));
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  const auto decoded =
      source().decoded(taken->index, []() -> Result<Recording> { return fail(Fault::full, "the temporary file"); });
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().fault, Fault::unsupported);
  EXPECT_NE(decoded.error().text().find("TMPDIR"), std::string::npos) << decoded.error().text();
}

TEST_F(BatchOnAFullDisk, ARunThatEndsOnAFullDiskHandsItsJobBackWithoutBlame) {
  const JobId id = add("a");
  writes_to(folder_ / "out" / "a.txt");
  files_->queue().all_added();
  TranscribedFile file = take_and_transcribe();
  std::future<Result<void>> published;
  {
    const FullDisk full(1 << 16);
    published = std::async(std::launch::async, [&] { return files_->sink().publish(file); });
    log_.wait_for("no recording is begun");
    files_->queue().stop_taking();
    files_->abort();
    const auto ended = published.get();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().fault, Fault::cancelled);
  }
  source().failed(file.outcome.index, {Fault::cancelled, "stopped"});
  EXPECT_EQ(job(id).state, JobState::queued);
  EXPECT_EQ(job(id).strikes, 0);
}

TEST_F(BatchOnAFullDisk, OutputsStagedByAnEarlierRunAreRetriedAtTheEnd) {
  const auto input = folder_ / "a.wav";
  const auto output = folder_ / "out" / "a.txt";
  std::filesystem::create_directories(output);  // a folder where the file should be
  BatchJob& job = jobs_.emplace_back();
  job.spec = {.key = "/out/a", .batch = "b", .input = input, .identity = {100, 7}, .options = "tiny"};
  Submitted answer = store_->submit(run_, {&job.spec, 1})->front();
  const JobId id = answer.id;
  const Lease lease = **store_->claim({.jobs = {id}});
  const std::vector<OutputContent> contents{{output, "hello"}};
  const auto published = publish_outputs(*store_, *store_, lease, contents, {}, {.staging = options_.staging});
  ASSERT_TRUE(published && published->left_staged);
  answer.state = JobState::done;
  BatchEntry requested = entry_of(answer, job, Seconds(10));
  requested.left_staged = published->left_staged->text();
  files_->queue().add({&requested, 1});
  EXPECT_EQ(files_->snapshot().counts.failed, 1U);
  std::filesystem::remove(output);
  files_->release("the run ended");
  EXPECT_EQ(files_->snapshot().counts.failed, 0U);
  EXPECT_EQ(files_->snapshot().counts.done, 1U);
  EXPECT_EQ(files_->snapshot().before.done, 1U) << "that earlier run has done it";
  EXPECT_EQ(files_->jobs().take_entries().at(id).left_staged, "");
  EXPECT_EQ(read_file(output).value(), "hello");
}
