// Life cycle of a batch's jobs and attempts, on a real store and a pool that only counts.

#include <gtest/gtest.h>

#include <future>

#include "transcribe/batch_job_source_case.h"

using namespace tutti;

TEST_F(BatchJobSourceTest, CancelledRunningJobEndsAndFreesItsDeviceSlot) {
  const JobId id = add("a");
  files_->queue().all_added();
  files_->serve(&model_);
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  ASSERT_TRUE(source().context(taken->index));
  EXPECT_EQ(pool_.engines, 1);
  ASSERT_TRUE(files_->cancel(id));
  EXPECT_FALSE(source().context(taken->index)) << "its stages drop it";
  source().failed(taken->index, {Fault::cancelled, "stopped"});
  EXPECT_EQ(pool_.engines, 0);
  EXPECT_EQ(files_->snapshot().counts.cancelled, 1U);
  EXPECT_EQ(job(id).state, JobState::cancelled);
  EXPECT_FALSE(source().next()) << "the batch is done";
}

TEST_F(BatchJobSourceTest, AJobWhoseCancellingTheStoreCannotRecordIsStillCounted) {
  const JobId id = add("a");
  files_->queue().all_added();
  ASSERT_TRUE(source().next());
  in_database(
      "CREATE TRIGGER full BEFORE UPDATE OF state ON tasks WHEN NEW.state = 'cancelled' BEGIN "
      "SELECT RAISE(ABORT, 'the disk is full'); END");
  ASSERT_TRUE(files_->cancel(id));
  EXPECT_EQ(files_->snapshot().counts.cancelled, 0U);
  in_database("DROP TRIGGER full");
  clock_.advance(kLeaseLength + std::chrono::seconds(1));
  files_->leases().look_after();
  EXPECT_FALSE(source().next()) << "it checks again, and finds that the job was cancelled";
  EXPECT_EQ(files_->snapshot().counts.cancelled, 1U);
}

TEST_F(BatchJobSourceTest, FailureNamesTheDeviceOfThisAttempt) {
  pool_.use = {.device = "card"};
  add("a");
  files_->queue().all_added();
  files_->serve(&model_);
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  ASSERT_TRUE(source().context(taken->index));
  source().failed(taken->index, {Fault::corrupt, "it ends in the middle"});
  ASSERT_EQ(files_->snapshot().failures.size(), 1U);
  EXPECT_EQ(files_->snapshot().failures.front().device, "card");
}

TEST_F(BatchJobSourceTest, AJobThatFailsWhileItIsToBeCancelledIsCancelledAndNoFailure) {
  const JobId id = add("a");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  ASSERT_TRUE(store_->cancel({.ids = {id}}));  // by another process: this one has yet to learn of it
  source().failed(taken->index, {Fault::corrupt, "no audio in it"});
  EXPECT_EQ(job(id).state, JobState::cancelled);
  EXPECT_EQ(files_->snapshot().counts.cancelled, 1U);
  EXPECT_EQ(files_->snapshot().counts.failed, 0U);
}

TEST_F(BatchJobSourceTest, JobTakenByAnotherRunIsNotCountedAsCancelled) {
  const JobId id = add("a");
  files_->queue().all_added();
  ASSERT_TRUE(source().next());
  in_database(
      "CREATE TRIGGER taken AFTER UPDATE OF lease_until ON tasks WHEN NEW.cancel_wished BEGIN "
      "UPDATE tasks SET lease_token = 'another' WHERE id = NEW.id; END");
  ASSERT_TRUE(files_->cancel(id));
  EXPECT_EQ(files_->snapshot().counts.cancelled, 0U);
  EXPECT_EQ(job(id).state, JobState::running);
}

TEST_F(BatchJobSourceTest, AnAttemptWhoseLeaseIsLostIsWorkedOnNoLonger) {
  add("a");
  files_->queue().all_added();
  files_->serve(&model_);
  const auto taken = source().next();
  ASSERT_TRUE(taken && source().context(taken->index));
  in_database("UPDATE tasks SET lease_token = 'another'");
  files_->leases().renew();
  EXPECT_EQ(pool_.cancelled, 1);
  EXPECT_FALSE(source().context(taken->index));
  source().failed(taken->index, {Fault::cancelled, "its job is not ours any more"});
  EXPECT_EQ(pool_.engines, 0);
}

TEST_F(BatchJobSourceTest, OwnLeasesAreRenewedAfterASuspendBeforeReaping) {
  const JobId id = add("a");
  files_->queue().all_added();
  ASSERT_TRUE(source().next());
  clock_.advance(std::chrono::hours(8));
  files_->leases().look_after();
  EXPECT_EQ(files_->snapshot().in_work.size(), 1U);
  EXPECT_EQ(job(id).state, JobState::running);
  EXPECT_EQ(job(id).strikes, 0);
}

TEST_F(BatchJobSourceTest, PausedBatchClaimsNothingUntilResumed) {
  add("a");
  add("b");
  files_->queue().all_added();
  ASSERT_TRUE(source().next());
  files_->queue().set_hold(RunHold::paused, true);
  auto second = std::async(std::launch::async, [&] { return source().next(); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_TRUE(files_->queue().set_hold(RunHold::paused, false));
  EXPECT_TRUE(second.get());
}

TEST_F(BatchJobSourceTest, APausedBatchIsOverOnceNothingIsInWork) {
  add("a");
  add("b");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  files_->queue().set_hold(RunHold::paused, true);
  auto second = std::async(std::launch::async, [&] { return source().next(); });
  source().failed(taken->index, {Fault::corrupt, "no sound in it"});
  EXPECT_FALSE(second.get());
  EXPECT_FALSE(files_->queue().set_hold(RunHold::paused, false)) << "too late";
}

TEST_F(BatchJobSourceTest, PoolReceivesTheReasonWhyRecordingsWait) {
  options_.jobs_at_once = 1;
  add("a");
  add("b");
  files_->queue().all_added();
  const auto first = source().next();
  ASSERT_TRUE(first);
  auto second = std::async(std::launch::async, [&] { return source().next(); });
  EXPECT_TRUE(pool_.is_reported(Idle::cap));
  files_->hold_back(true);
  EXPECT_TRUE(pool_.is_reported(Idle::memory));
  files_->queue().set_hold(RunHold::paused, true);
  EXPECT_TRUE(pool_.is_reported(Idle::drained));
  files_->hold_back(false);
  EXPECT_TRUE(files_->queue().set_hold(RunHold::paused, false));
  EXPECT_TRUE(pool_.is_reported(Idle::cap));
  source().failed(first->index, {Fault::corrupt, "no sound in it"});
  const auto taken = second.get();
  ASSERT_TRUE(taken);
  auto none = std::async(std::launch::async, [&] { return source().next(); });
  EXPECT_TRUE(pool_.is_reported({})) << "nothing waits any more";
  source().failed(taken->index, {Fault::corrupt, "no sound in it"});
  EXPECT_FALSE(none.get());
}

TEST_F(BatchJobSourceTest, UnknownOrEndedJobCannotBeCancelled) {
  const JobId id = add("a");
  const auto unknown = files_->cancel(999999);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().fault, Fault::missing);
  EXPECT_TRUE(files_->cancel(id)) << "it waits";
  EXPECT_FALSE(files_->cancel(id)) << "it has ended";
}

TEST_F(BatchJobSourceTest, UnreadableRecordingFailsAloneAndAbortStopsHashing) {
  add("a");
  add("b");
  const auto a = source().next(), b = source().next();
  ASSERT_TRUE(a && b);
  std::filesystem::remove(a->input);
  EXPECT_EQ(source().begin(a->index).error().fault, Fault::missing);
  EXPECT_TRUE(source().begin(b->index));
  add("c");
  const auto c = source().next();
  ASSERT_TRUE(c);
  files_->abort();
  EXPECT_EQ(source().begin(c->index).error().fault, Fault::cancelled);
}

TEST_F(BatchJobSourceTest, RecordingDoesNotWaitForTheTwinOfAStoppedRun) {
  const JobId left = add("a");
  add("b");
  const auto a = folder_ / "a.wav", b = folder_ / "b.wav";
  ASSERT_TRUE(write_file_atomically(b, "the sound of a"));
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(source().begin(first->index));
  ASSERT_FALSE(source().begin(second->index)) << "it waits for the other one";
  files_->release("the run was stopped");
  begin();
  submit(b, {100, 7}, Seconds(10));  // this time without the first one
  const auto alone = source().next();
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->input, b);
  EXPECT_TRUE(source().begin(alone->index));
  submit(a, {100, 7}, Seconds(10));
  const auto late = source().next();
  ASSERT_TRUE(late);
  EXPECT_FALSE(source().begin(late->index)) << "its content is known, and now the other one is at work on it";
  EXPECT_EQ(job(left).state, JobState::queued);
}

TEST_F(BatchJobSourceTest, JobWaitingForAnIdleTwinOfAnOldVersionIsReleased) {
  const JobId left = add("a"), id = add("b");
  in_database("UPDATE tasks SET sha256 = 'same'");
  in_database("UPDATE tasks SET waits_for = " + std::to_string(left) + " WHERE id = " + std::to_string(id));
  ASSERT_FALSE(*store_->claim({.jobs = {id}}));
  files_->leases().look_after();
  EXPECT_TRUE(*store_->claim({.jobs = {id}}));
}

TEST_F(BatchJobSourceTest, AJobThatEndsWithTheLastDeviceIsTheNextRuns) {
  const JobId id = add("a");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  pool_.ended = Error{Fault::device, "no device is left: the model is gone"};
  source().failed(taken->index, *pool_.ended);
  EXPECT_EQ(job(id).state, JobState::queued);
  EXPECT_EQ(files_->snapshot().counts.failed, 0U);
  EXPECT_FALSE(source().next()) << "nothing more can be done";
}

TEST_F(BatchJobSourceTest, ARecordingWhoseFolderIsAwayIsTriedAgainAndADamagedOneIsNot) {
  const JobId away = add("a"), damaged = add("b");
  files_->queue().all_added();
  const auto a = source().next(), b = source().next();
  ASSERT_TRUE(a && b);
  std::filesystem::remove(a->input);
  source().failed(a->index, {Fault::missing, "a.wav: cannot be opened"});
  source().failed(b->index, {Fault::corrupt, "b.wav: no sound in it"});
  EXPECT_EQ(job(away).state, JobState::queued);
  EXPECT_EQ(job(damaged).state, JobState::dead);
}

TEST_F(BatchJobSourceTest, ARecordingThatWasNeverThereFailsAtOnceUnlessItsFolderIsAway) {
  const JobId mistyped = add_missing("no such talk.wav"), away = add_missing("share/talk.wav");
  files_->queue().all_added();
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  for (const auto& taken : {*first, *second})
    source().failed(taken.index, {Fault::missing, taken.input.string() + ": cannot be opened"});
  EXPECT_EQ(job(mistyped).state, JobState::dead);
  EXPECT_EQ(job(mistyped).attempts, 1);
  EXPECT_EQ(job(away).state, JobState::queued);
}

TEST_F(BatchJobSourceTest, AFolderAmongTheRecordingsOfAListFailsAtOnceWithAWayOut) {
  const JobId id = submit(folder_ / "may", {100, 7}, {});
  std::filesystem::create_directory(folder_ / "may");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  const auto begun = source().begin(taken->index);
  ASSERT_FALSE(begun);
  EXPECT_NE(begun.error().text().find("found a folder. Name the recordings in it"), std::string::npos)
      << begun.error().text();
  source().failed(taken->index, begun.error());
  EXPECT_EQ(job(id).state, JobState::dead);
}

TEST_F(BatchJobSourceTest, ARecordingWhoseOutputsNoFileCanBeCalledFailsFirstAndUnread) {
  add("long", {.job_class = JobClass::interactive});
  const std::string name(251, 'a');  // with .txt it fits
  const JobId id = submit(folder_ / "not there.wav", {100, 7}, Seconds(10), {.key = folder_ / "out" / name},
                          {Format::txt, Format::json});
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->input.stem(), "not there") << "before it is the turn of any";
  const auto begun = source().begin(taken->index);
  ASSERT_FALSE(begun);
  source().failed(taken->index, begun.error());
  EXPECT_EQ(job(id).state, JobState::dead);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_NE(files_->snapshot().failures.front().error.find("expected a name of at most 255 bytes, found 256"),
            std::string::npos)
      << files_->snapshot().failures.front().error;
}

TEST_F(BatchJobSourceTest, DevicesIdleUntilARetryReportPutOffNotInput) {
  add("a");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  source().failed(taken->index, {Fault::unavailable, "its share does not answer"});
  auto again = std::async(std::launch::async, [&] { return source().next(); });
  EXPECT_TRUE(pool_.is_reported(Idle::put_off));
  files_->queue().stop_taking();
  EXPECT_FALSE(again.get());
}

TEST_F(BatchJobSourceTest, UntilAllIsListedDevicesWaitForInput) {
  auto none = std::async(std::launch::async, [&] { return source().next(); });
  EXPECT_TRUE(pool_.is_reported(Idle::input));
  files_->queue().all_added();
  EXPECT_FALSE(none.get());
  EXPECT_TRUE(pool_.is_reported(std::nullopt));
}

TEST_F(BatchJobSourceTest, DevicesReportPendingWhileAFailurePromptIsOpen) {
  struct Prompting final : BatchObserver {
    Action on_failed(const BatchEnd&, const Error&, const BatchCounts&) override {
      answer.get_future().wait();
      return Action::go_on;
    }
    std::promise<void> answer{};
  } prompting;
  files_.emplace(options_, *store_, pool_, prompting);
  for (const char* name : {"a", "b"}) add(name);
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  auto failing = std::async(std::launch::async, [&] {
    source().failed(taken->index, {Fault::corrupt, "no audio in it"});
  });
  EXPECT_TRUE(pool_.is_reported(Idle::awaiting_answer));
  prompting.answer.set_value();
  failing.get();
  EXPECT_TRUE(pool_.is_reported(std::nullopt));
}

TEST_F(BatchJobSourceTest, JobResubmittedWithOtherOptionsIsLeftToThatRun) {
  const JobId id = add("a");
  files_->queue().all_added();
  JobSpec otherwise = jobs_.front().spec;
  otherwise.options = "large";
  ASSERT_TRUE(store_->submit(run_, {&otherwise, 1}));
  EXPECT_FALSE(source().next());
  EXPECT_EQ(files_->snapshot().counts.cancelled, 1U);
  EXPECT_EQ(job(id).state, JobState::queued) << "that run does it";
  EXPECT_EQ(job(id).strikes, 0);
}

TEST_F(BatchJobSourceTest, ProgressCountsPartialRecordingsUpToTheirLength) {
  add("a");
  add("b");
  EXPECT_FALSE(files_->snapshot().progress.total) << "there may be more";
  files_->queue().all_added();
  files_->serve(&model_);
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  const auto reach = [&](Seconds position) { source().context(taken->index)->on_progress(taken->index, position, {}); };
  reach(Seconds(4));
  EXPECT_EQ(files_->snapshot().progress.done, Seconds(4));
  EXPECT_EQ(files_->snapshot().progress.total, Seconds(20));
  reach(Seconds(30));
  EXPECT_EQ(files_->snapshot().progress.done, Seconds(10)) << "that is its declared length";
  ASSERT_TRUE(source().on_audio_decoded(taken->index, Seconds(40)));
  EXPECT_EQ(files_->snapshot().progress.done, Seconds(30));
  EXPECT_EQ(files_->snapshot().progress.total, Seconds(50));
  source().failed(taken->index, {Fault::corrupt, "its second half is damaged"});
  EXPECT_EQ(files_->snapshot().progress.done, Seconds(0));
  EXPECT_EQ(files_->snapshot().progress.total, Seconds(10)) << "nothing of it is left to do";
}

TEST_F(BatchJobSourceTest, UnknownLengthLeavesTheTotalUnknown) {
  add("a");
  add_missing("share/b.wav");
  files_->queue().all_added();
  EXPECT_FALSE(files_->snapshot().progress.total);
  const auto a = source().next(), b = source().next();
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(source().on_audio_decoded(b->index, Seconds(5)));
  EXPECT_EQ(files_->snapshot().progress.total, Seconds(15));
}

TEST_F(BatchJobSourceTest, LastJobStopsThePool) {
  const JobId id = add("a");
  files_->queue().all_added();
  EXPECT_FALSE(pool_.stopped);
  ASSERT_TRUE(files_->cancel(id));
  EXPECT_FALSE(source().next());
  EXPECT_TRUE(pool_.stopped) << "a device that still loads its model is not waited for";
}

TEST_F(BatchJobSourceTest, ARecordingThatWaitsSinceAnEarlierRunOvertakesABetterClass) {
  add("old");
  clock_.advance(std::chrono::minutes(71));
  begin();
  add("new", {.job_class = JobClass::normal});
  add("old");
  files_->queue().all_added();
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->input.stem(), "old") << "seven times ten minutes are worth more than a class";
  EXPECT_EQ(pool_.added.at(2).queued_at, Seconds(-71 * 60)) << "and its windows on the devices as much";
}

TEST_F(BatchJobSourceTest, RequestedRetryGainsNoPriorityFromItsFailedTime) {
  const JobId failed = add("failed");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  source().failed(taken->index, {Fault::corrupt, "no sound in it"});
  clock_.advance(std::chrono::hours(24));
  begin();
  ASSERT_EQ(store_->retry({.ids = {failed}}), 1U);
  add("new", {.job_class = JobClass::normal});
  add("failed");
  files_->queue().all_added();
  const auto first = source().next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->input.stem(), "new");
}

TEST_F(BatchJobSourceTest, InteractiveRecordingsAreTakenByEarliestDeadline) {
  using std::chrono::hours;
  const auto due = [&](hours in) {
    return JobSpec{.job_class = JobClass::interactive, .deadline = clock_.wall() + in};
  };
  add("batch");
  add("some time", {.job_class = JobClass::interactive});
  add("tomorrow", due(hours(24)));
  add("today", due(hours(8)));
  files_->queue().all_added();
  for (const char* name : {"today", "tomorrow", "some time", "batch"}) {
    const auto taken = source().next();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->input.stem(), name);
  }
  EXPECT_EQ(pool_.added.at(3).deadline, Seconds(8 * 3600)) << "and its windows by the same";
}

/// Keeps what starts.
struct Starts final : BatchObserver {
  void on_start(const BatchStart& start) override { all.push_back(start); }
  std::vector<BatchStart> all{};
};

TEST_F(BatchJobSourceTest, RecordingStartsWhenGrantedADeviceNotWhenClaimed) {
  Starts starts;
  options_.devices = {{.id = "GPU-1", .label = "cuda:0"}};
  files_.emplace(options_, *store_, pool_, starts);
  add("a");
  const JobId second = add("b");
  files_->queue().all_added();
  files_->serve(&model_);
  const auto a = source().next(), b = source().next();
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(source().context(a->index));
  ASSERT_TRUE(source().context(b->index));
  EXPECT_TRUE(starts.all.empty());
  PoolView before;
  before.next_device = "GPU-1";
  pool_.granted.push_back({.job = static_cast<std::uint64_t>(second), .device = "GPU-1", .before = before});
  pool_.when_granted();
  ASSERT_EQ(starts.all.size(), 1U);
  EXPECT_EQ(starts.all[0].name, job(second).spec.name);
  EXPECT_EQ(starts.all[0].device, "cuda:0");
  EXPECT_EQ(starts.all[0].number, 1U) << "the first that starts";
  EXPECT_EQ(starts.all[0].worker, 2U) << "the second that is in work";
  EXPECT_EQ(starts.all[0].before.next_device, "GPU-1");
}

TEST_F(BatchJobSourceTest, StartIsReportedBeforeTheEnd) {
  struct Order final : BatchObserver {
    void on_start(const BatchStart& start) override { all.push_back("start " + std::to_string(start.number)); }
    Action on_failed(const BatchEnd& end, const Error&, const BatchCounts&) override {
      all.push_back("failed " + std::to_string(end.worker));
      return Action::go_on;
    }
    std::vector<std::string> all{};
  } order;
  files_.emplace(options_, *store_, pool_, order);
  const JobId id = add("a");
  files_->queue().all_added();
  const auto taken = source().next();
  ASSERT_TRUE(taken);
  pool_.granted.push_back({.job = static_cast<std::uint64_t>(id), .device = "a"});
  source().failed(taken->index, {Fault::corrupt, "no audio in it"});
  EXPECT_EQ(order.all, (std::vector<std::string>{"start 1", "failed 1"}));
}

TEST_F(BatchJobSourceTest, WorkersAreNumberedByTheRecordingsInWork) {
  Starts starts;
  options_.jobs_at_once = 2;
  files_.emplace(options_, *store_, pool_, starts);
  std::vector<JobId> ids;
  for (const char* name : {"a", "b", "c"}) ids.push_back(add(name));
  files_->queue().all_added();
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  source().failed(first->index, {Fault::corrupt, "no audio in it"});
  const auto third = source().next();
  ASSERT_TRUE(third);
  for (const JobId id : ids) pool_.granted.push_back({.job = static_cast<std::uint64_t>(id), .device = "a"});
  source().failed(second->index, {Fault::corrupt, "no audio in it"});
  ASSERT_EQ(starts.all.size(), 3U);
  EXPECT_EQ(starts.all[0].worker, 1U);
  EXPECT_EQ(starts.all[1].worker, 2U);
  EXPECT_EQ(starts.all[2].worker, 1U) << "of two at once there are two";
}

TEST_F(BatchJobSourceTest, ACopyIsTheFirstAttemptAtItsRecording) {
  const auto same = folder_ / "same.wav";
  ASSERT_TRUE(write_file_atomically(same, "the sound of a"));
  const JobId a = add("a");
  const JobId copy = submit(same, {100, 7}, Seconds(10));
  files_->queue().all_added();
  const auto first = source().next(), second = source().next();
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(source().begin(first->index));
  EXPECT_FALSE(source().begin(second->index)) << "it waits for the first";
  EXPECT_EQ(job(a).attempts, 1);
  EXPECT_EQ(job(copy).attempts, 0);
  EXPECT_TRUE(store_->attempts(copy)->empty());
}
