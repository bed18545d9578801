// What a classifier's training is planned to take of a GPU.

#include "train/classifier/memory_plan.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "train/classifier/training_plan.h"

using namespace tutti;

namespace {

constexpr std::int64_t kNoteRows = 3'165'040, kNoteParameters = 618'758, kGigabyte = 1'000'000'000;

ClassifierMemory note_memory() {
  return classifier_memory(classifier_shape(leak_geometry(), 5, 32, true), kNoteRows, kNoteParameters);
}

ClassifierPreset preset(std::int64_t gigabytes, ClassifierBatches batches = {.rows = kNoteRows}) {
  return preset_for(Bytes{gigabytes * kGigabyte}, note_memory(), batches);
}

}  // namespace

TEST(ClassifierPlan, NotesSetIsOf405Megabytes) {
  EXPECT_EQ(note_memory().set.value, 405'125'120);
  EXPECT_EQ(note_memory().row.value, 128);
  EXPECT_EQ(note_memory().network.value, 5 * 4 * kNoteParameters);
}

TEST(ClassifierPlan, CardsOfTheNoteHoldWholeSetAndBatch) {
  for (const std::int64_t gigabytes : {24, 16}) {
    const auto planned = preset(gigabytes);
    EXPECT_TRUE(planned.set_on_gpu);
    EXPECT_EQ(planned.batch_size, 8192);
    EXPECT_GT(planned.largest_batch, 8192);
    EXPECT_LT(planned.total.value, gigabytes * kGigabyte);
  }
  EXPECT_GT(preset(24).largest_batch, preset(16).largest_batch);
}

TEST(ClassifierPlan, SmallGpuGetsSmallerBatchesAndNoSet) {
  const auto planned = preset(1);
  EXPECT_FALSE(planned.set_on_gpu);
  EXPECT_LT(planned.batch_size, 8192);
  EXPECT_EQ(planned.batch_size, planned.largest_batch);
  EXPECT_LE(planned.total.value, kGigabyte);
  EXPECT_EQ(preset(0).batch_size, 0);
}

TEST(ClassifierPlan, SmallSetKeepsItsStepsAnEpoch) {
  EXPECT_EQ(preset(24, {.rows = 2000}).batch_size, 100);
}

TEST(ClassifierPlan, StepHoldsWhatIsComputed) {
  const auto plan = plan_classifier({.gpus = {{"24GB", Bytes{24 * kGigabyte}}}, .json = true});
  ASSERT_TRUE(plan) << plan.error().text();
  const auto json = nlohmann::json::parse(*plan);
  EXPECT_EQ(json["parameters"], kNoteParameters);
  EXPECT_EQ(json["gpus"][0]["batch_size"], 8192);
  const auto held = json["dry_run"]["held_bytes"].get<double>(),
             computed = json["dry_run"]["computed_bytes"].get<double>();
  EXPECT_GT(held, 0.75 * computed);
  EXPECT_LT(held, 1.05 * computed);
}
