#include "transcribe/batch/batch_tally.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

BatchEntry minute() {
  return {.audio = Seconds(60), .declared_length = Seconds(60), .requested = Seconds(30)};
}

TEST(BatchTally, JobsEndedEarlierAreCountedButNotToDo) {
  BatchTally tally;
  tally.add(minute(), JobState::done);
  tally.add(minute(), JobState::dead);
  tally.add(minute(), JobState::queued);
  EXPECT_EQ(tally.counts.total, 3u);
  EXPECT_EQ(tally.counts.ended(), 2u);
  EXPECT_EQ(tally.before.done, 1u);
  EXPECT_EQ(tally.before.failed, 1u);
  EXPECT_EQ(tally.to_do, 1u);
  EXPECT_EQ(tally.open.count, 1u);
  EXPECT_EQ(tally.open.audio, Seconds(60));
}

TEST(BatchTally, StagedOutputsCountAsFailedUntilPublished) {
  BatchTally tally;
  BatchEntry entry = minute();
  entry.left_staged = "the disk is full";
  tally.add(entry, JobState::done);
  EXPECT_EQ(tally.counts.failed, 1u);
  EXPECT_EQ(tally.counts.done, 0u);
  EXPECT_EQ(tally.before.done, 0u);

  tally.placed(entry);
  EXPECT_EQ(tally.counts.failed, 0u);
  EXPECT_EQ(tally.counts.done, 1u);
  EXPECT_EQ(tally.before.done, 1u) << "an earlier run transcribed it";
  EXPECT_EQ(tally.done.recordings, 0u);
}

TEST(BatchTally, OutputStagedByThisRunCountsAsItsOwnOncePublished) {
  BatchTally tally;
  BatchEntry entry = minute();
  tally.add(entry, JobState::queued);
  entry.number = ++tally.begun;
  entry.use = JobEngine::Use{};
  ++tally.counts.failed;
  tally.placed(entry);
  EXPECT_EQ(tally.counts.failed, 0u);
  EXPECT_EQ(tally.before.done, 0u);
  EXPECT_EQ(tally.done.recordings, 1u);
  EXPECT_EQ(tally.done.requested, Seconds(30));
}

TEST(BatchTally, RecordingsWithoutSpeechCountAsDone) {
  BatchTally tally;
  BatchEntry entry = minute();
  tally.count_done(entry);
  entry.without_speech = true;
  tally.count_done(entry);
  EXPECT_EQ(tally.done.recordings, 2u);
  EXPECT_EQ(tally.done.without_speech, 1u);
}

TEST(BatchTally, ACopyIsARecordingDoneWithoutAudioTranscribed) {
  BatchTally tally;
  tally.count_done(minute());
  EXPECT_EQ(tally.done.recordings, 1u);
  EXPECT_EQ(tally.done.copied, 1u);
  EXPECT_EQ(tally.done.audio, Seconds(0));
  EXPECT_TRUE(tally.done.transcribed.empty());
}

}  // namespace
}  // namespace tutti
