// What trainings are planned to take of a GPU.

#include "train/classifier/memory_plan.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "support/temp_folder.h"
#include "train/plan/sample_memory.h"
#include "train/plan/training_memory.h"
#include "train/plan/training_plan.h"
#include "train/whisper/network/parameters.h"

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
    EXPECT_EQ(planned.batch.batch_size, 8192);
    EXPECT_GT(planned.batch.largest_batch, 8192);
    EXPECT_LT(planned.batch.total.value, gigabytes * kGigabyte);
  }
  EXPECT_GT(preset(24).batch.largest_batch, preset(16).batch.largest_batch);
}

TEST(ClassifierPlan, SmallGpuGetsSmallerBatchesAndNoSet) {
  const auto planned = preset(1);
  EXPECT_FALSE(planned.set_on_gpu);
  EXPECT_LT(planned.batch.batch_size, 8192);
  EXPECT_EQ(planned.batch.batch_size, planned.batch.largest_batch);
  EXPECT_LE(planned.batch.total.value, kGigabyte);
  EXPECT_EQ(preset(0).batch.batch_size, 0);
}

TEST(ClassifierPlan, SmallSetKeepsItsStepsAnEpoch) {
  EXPECT_EQ(preset(24, {.rows = 2000}).batch.batch_size, 100);
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

namespace {

/// Wide enough that its tensors count, small enough for a fast step.
constexpr const char* kSmallWhisper = R"({"model_type": "whisper", "d_model": 128, "encoder_layers": 2,
  "encoder_attention_heads": 2, "encoder_ffn_dim": 512, "decoder_layers": 2, "decoder_attention_heads": 2,
  "decoder_ffn_dim": 512, "vocab_size": 1765, "num_mel_bins": 80, "max_source_positions": 400,
  "max_target_positions": 192})";

/// A folder with a model's shape alone.
class SmallWhisper {
 public:
  SmallWhisper() { std::ofstream(folder_ / "config.json") << kSmallWhisper; }
  std::string path() const { return folder_.path().string(); }

 private:
  TempFolder folder_{};
};

const ClipLength kNoteClip{.symbols = 200, .frames = 800};

nlohmann::json planned(const std::string& kind, const std::string& model) {
  const auto plan = plan_training(
      kind, {.gpus = {{"24GB", Bytes{24 * kGigabyte}}, {"16GB", Bytes{16 * kGigabyte}}}, .model = model, .json = true});
  EXPECT_TRUE(plan) << plan.error().text();
  return plan ? nlohmann::json::parse(*plan) : nlohmann::json();
}

void expect_verified(const nlohmann::json& run) {
  const auto held = run["held_bytes"].get<double>(), computed = run["computed_bytes"].get<double>();
  EXPECT_GT(held, 0.85 * computed) << run;
  EXPECT_LT(held, 1.15 * computed) << run;
}

}  // namespace

TEST(FitBatch, LargestBatchFillsMemoryAndNextWouldNotFit) {
  const CountedMemory memory{.fixed = Bytes{1000}, .ring_sample = Bytes{10}, .activations = Bytes{60}};
  const auto driver = kDriverMemory.value;
  const auto batch = fit_batch(Bytes{driver + 2000}, memory, {.ring_depth = 3});
  EXPECT_EQ(batch.batch_size, 10);  // of 100 bytes each
  EXPECT_EQ(batch.total.value, driver + 2000);
  EXPECT_EQ(fit_batch(Bytes{driver + 1999}, memory, {.ring_depth = 3}).batch_size, 9);
  EXPECT_EQ(fit_batch(Bytes{driver + 2000}, memory, {.ring_depth = 3, .multiple = 4}).batch_size, 8);
  EXPECT_EQ(fit_batch(Bytes{driver + 2000}, memory, {.ring_depth = 3, .most = 5}).batch_size, 5);
  EXPECT_EQ(fit_batch(Bytes{driver}, memory, {}).batch_size, 0);
}

TEST(FitBatch, RecommendedBatchIsAPowerOfTwoThatLeavesMemoryFree) {
  const CountedMemory memory{.fixed = Bytes{0}, .activations = Bytes{100'000'000}};
  const Bytes gpu{10 * kGigabyte};
  const auto batch = fit_batch(gpu, memory, {.ring_depth = 0});
  EXPECT_EQ(batch.largest_batch, 94);
  EXPECT_EQ(batch.recommended_batch, 64);
  EXPECT_GE(gpu.value - kDriverMemory.value - 64 * memory.activations.value, 15 * gpu.value / 100);
  EXPECT_EQ(fit_batch(gpu, memory, {.ring_depth = 0, .most = 20}).recommended_batch, 16);
  const Bytes small{kDriverMemory.value + 110'000'000};
  EXPECT_EQ(fit_batch(small, memory, {.ring_depth = 0}).recommended_batch, 1) << "nothing smaller fits";
  EXPECT_EQ(fit_batch(kDriverMemory, memory, {.ring_depth = 0}).recommended_batch, 0);
}

TEST(FitBatch, StateHasWeightGradientAndTwoAverages) {
  EXPECT_EQ(network_state(10, /*ema=*/false).value, 160);
  EXPECT_EQ(network_state(10, /*ema=*/true).value, 200);
}

TEST(FitBatch, ADryRunThatHeldMoreGrowsThePlanByThatShare) {
  EXPECT_EQ(verified(Bytes{1000}, Bytes{30}, Bytes{20}).value, 1500);
  EXPECT_EQ(verified(Bytes{1000}, Bytes{10}, Bytes{20}).value, 1000);
}

TEST(WhisperPlan, CountsTheWeightsOfTheNetwork) {
  const auto dims = dims_of(*model_shape(SmallWhisper().path()));
  const auto network = new_parameters(openai_shape(dims), 1, at::kCPU);
  EXPECT_EQ(parameters_of(dims), parameter_count(network.all));
}

TEST(WhisperPlan, RecomputedBlocksTakeLess) {
  const auto dims = dims_of(*model_shape("small"));
  EXPECT_LT(2 * activations_of(dims, true).value, activations_of(dims, false).value);
}

TEST(WhisperPlan, StepHoldsWhatIsComputed) {
  const SmallWhisper model;
  const auto json = planned("whisper", model.path());
  EXPECT_EQ(json["gpus"].size(), 4);  // each without gradient-checkpointing, and with it
  EXPECT_GT(json["gpus"][0]["batch_size"], json["gpus"][2]["batch_size"]);
  EXPECT_GT(json["gpus"][1]["batch_size"], json["gpus"][0]["batch_size"]);
  for (const auto& run : json["dry_runs"]) expect_verified(run);
  EXPECT_EQ(json["note_004"][0]["batch_size"], nlohmann::json({48, 64}));
}

TEST(WhisperPlan, UnknownModelAndASetAreRefused) {
  EXPECT_EQ(plan_training("whisper", {.model = "smal"}).error().fault, Fault::usage);
  EXPECT_EQ(plan_training("whisper", {.data = "set"}).error().fault, Fault::usage);
  EXPECT_EQ(plan_training("classifier", {.model = "small"}).error().fault, Fault::usage);
  EXPECT_EQ(plan_training("opera", {}).error().fault, Fault::usage);
}

TEST(VoicePlan, StepHoldsWhatIsComputed) {
  const auto json = planned("tts", "nano");
  EXPECT_GT(json["gpus"][0]["batch_size"], json["gpus"][1]["batch_size"]);
  for (const auto& run : json["dry_runs"]) expect_verified(run);
  EXPECT_EQ(json["gpus"][2]["with"], "gradient-checkpointing");
  EXPECT_GT(json["gpus"][2]["batch_size"], json["gpus"][0]["batch_size"]);
  EXPECT_EQ(json["note_002"][2]["batch_size"], nlohmann::json({24, 32}));
  EXPECT_TRUE(json["note_002_ladder"][2]["largest_batch"][0].is_null());  // base is no size
  EXPECT_GE(json["note_002_ladder"][0]["largest_batch"][2], 32);
}

TEST(VocoderPlan, StepHoldsWhatIsComputed) {
  const auto json = planned("vocoder", "");
  EXPECT_GT(json["gpus"][0]["batch_size"], json["gpus"][1]["batch_size"]);
  EXPECT_EQ(json["frames"], 64);
  expect_verified(json["dry_run"]);
  EXPECT_EQ(plan_training("vocoder", {.model = "small"}).error().fault, Fault::usage);
}

TEST(VoicePlan, LongerClipsAndLargerSizesTakeMore) {
  const auto nano = *voice_shape("nano"), tiny = *voice_shape("tiny");
  const auto clip = activations_of(nano, kNoteClip, false);
  EXPECT_GT(activations_of(tiny, kNoteClip, false), clip);
  EXPECT_GT(activations_of(nano, {.symbols = 200, .frames = 1600}, false), clip);
  EXPECT_GT(activations_of(nano, {.symbols = 400, .frames = 800}, false), clip);
  EXPECT_LT(2 * activations_of(tiny, kNoteClip, true).value, activations_of(tiny, kNoteClip, false).value);
}

TEST(VoicePlan, BaseIsRefusedWithTheSizesThereAre) {
  const auto plan = plan_training("tts", {.model = "base"});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().text().find("tiny, small, normal, big"), std::string::npos) << plan.error().text();
}
