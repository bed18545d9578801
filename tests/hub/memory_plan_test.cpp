#include "hub/memory_plan.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {
namespace {

constexpr ModelShape kLargeV3{128, 1500, 448, 51866, 1280, 32, 32};
constexpr std::int64_t kGigabyte = 1'000'000'000;

double gigabytes(Bytes bytes) {
  return static_cast<double>(bytes.value) / kGigabyte;
}

TEST(MemoryPlan, LargeV3EqualsTheSumOfItsTensors) {
  const auto plan = memory_plan(kLargeV3, *number_sizes("float16"));
  EXPECT_NEAR(gigabytes(plan.weights), 3.1, 0.05);      // 1.55 billion parameters
  EXPECT_NEAR(gigabytes(plan.window), 0.2458, 0.0001);  // 32 layers x 2 x 1500 x 1280 x 2 bytes
  EXPECT_NEAR(gigabytes(plan.sequence), 0.0738, 0.0001);
}

TEST(TypeOn, IsTheTypeTheDeviceUsesForTheRequestedOne) {
  EXPECT_EQ(type_on("int8", false), "int8_float16");
  EXPECT_EQ(type_on("int8_float16", true), "int8");
  EXPECT_EQ(type_on("float16", true), "float32");
  EXPECT_EQ(type_on("default", true), "float32");
  EXPECT_EQ(type_on("default", false), "float16");
  for (const char* type : {"default", "auto", "float32", "tf32", "bfloat16", "float16", "int8", "int8_float16"})
    for (const bool on_cpu : {true, false}) EXPECT_TRUE(number_sizes(type_on(type, on_cpu))) << type;
}

TEST(MemoryPlan, LargeV3With64WindowsFits16GBInInt8NotInFloat16) {
  const Bytes card{16 * kGigabyte};
  const auto plan = memory_plan(kLargeV3, on_gpu(*number_sizes("int8_float16")));
  EXPECT_EQ(slots_that_fit(plan, card, 1), 64);
  EXPECT_LE(plan.total(64, 1), card);
  EXPECT_LT(slots_that_fit(memory_plan(kLargeV3, on_gpu(*number_sizes("float16"))), card, 1), 64);
}

TEST(MemoryPlan, LargeV3With64WindowsWithoutHistoryFitsAT4) {
  // 15,360 MiB, of which the driver keeps 256 for itself.
  const Bytes card{((15'360LL - 256) << 20) - kDriverMemory.value};
  const auto fit = [&](std::int64_t text_positions, const char* type = "int8_float16") {
    return slots_that_fit(memory_plan(kLargeV3, on_gpu(*number_sizes(type)), text_positions), card, 1);
  };
  EXPECT_EQ(fit(448), 58) << "with all of the text context";
  EXPECT_EQ(fit(232), 72);
  EXPECT_LT(fit(232, "float16"), 64);
  const auto plan = memory_plan(kLargeV3, on_gpu(*number_sizes("int8_float16")), 232);
  EXPECT_EQ(encoded_together(plan, card, 64, 1), kEncodedTogether);
  EXPECT_NEAR(gigabytes(plan.in_work(64, 1)) + gigabytes(plan.more_encoded(kEncodedTogether)), 14.112, 0.001);
}

TEST(MemoryPlan, SlotsTakeTheirTextPositionsAtMostTheModels) {
  const auto sizes = on_gpu(*number_sizes("float16"));
  const auto whole = memory_plan(kLargeV3, sizes), shorter = memory_plan(kLargeV3, sizes, 232);
  const std::int64_t saved = std::int64_t{32} * 2 * 1280 * (448 - 232) * 2;
  EXPECT_EQ(whole.sequence.value - shorter.sequence.value, saved);
  EXPECT_EQ(whole.workspace.value - shorter.workspace.value, saved) << "the slot of padding";
  EXPECT_EQ(whole.weights, shorter.weights);
  EXPECT_EQ(memory_plan(kLargeV3, sizes, 1000).sequence, whole.sequence);
}

TEST(MemoryPlan, WindowsThatFitAreTheMaximum) {
  const auto plan = memory_plan(kLargeV3, *number_sizes("bfloat16"));
  for (const std::int64_t beams : {1, 5}) {
    for (const std::int64_t gigabyte : {4, 9, 40}) {
      const Bytes available{gigabyte * kGigabyte};
      const auto windows = windows_that_fit(plan, available, beams);
      if (windows > 0) {
        EXPECT_LE(plan.total(windows, beams), available);
      }
      EXPECT_GT(plan.total(windows + 1, beams), available);
    }
  }
  EXPECT_EQ(windows_that_fit(plan, {kGigabyte}, 1), 0);
}

TEST(MemoryPlan, KnowsTheComputeTypesByName) {
  for (const char* name : {"float32", "float16", "bfloat16", "int8", "int8_float16"}) {
    EXPECT_TRUE(number_sizes(name).has_value()) << name;
  }
  EXPECT_FALSE(number_sizes("auto").has_value());
}

TEST(ModelShape, IsReadFromTheFolderOrTakenFromTheName) {
  TUTTI_NEEDS("whisper-tiny.en/config.json");
  const ModelShape tiny{80, 1500, 448, 51864, 384, 4, 4};
  EXPECT_EQ(model_shape((test_data() / "whisper-tiny.en/config.json").parent_path()), tiny);
  EXPECT_EQ(model_shape("/nowhere/tiny.en.pt"), tiny);
  EXPECT_EQ(model_shape("/nowhere/faster-whisper-large-v3"), kLargeV3);
  EXPECT_EQ(model_shape("/nowhere/large-v3-turbo.pt")->text_layers, 4);
  EXPECT_EQ(model_shape("/nowhere/large-v2.pt")->n_mels, 80);
  EXPECT_FALSE(model_shape("/nowhere/mine.pt").has_value());
  EXPECT_FALSE(model_shape("/nowhere/database/mine.pt").has_value());
}

TEST(MemoryPlan, AsManySlotsFitAsAWorkerHoldsTheWindowsOf) {
  const auto plan = memory_plan(kLargeV3, *number_sizes("float16"));
  for (const std::int64_t beams : {1, 5}) {
    for (std::int64_t gigabytes = 5; gigabytes < 80; ++gigabytes) {
      const Bytes available{gigabytes * kGigabyte};
      const auto slots = slots_that_fit(plan, available, beams);
      ASSERT_GT(slots, 0) << gigabytes;
      EXPECT_LE(plan.in_work(slots, beams), available);
      EXPECT_GT(plan.in_work(slots + 1, beams), available);
    }
  }
  EXPECT_EQ(slots_that_fit(plan, {3 * kGigabyte}, 1), 0) << "the weights take more";
  EXPECT_EQ(slots_that_fit(plan, {kGigabyte << 20}, 1), kLargestBatch);
}

TEST(MemoryPlan, GpuAddsTokenSelectionLogitsAndThePaddingSlot) {
  const auto sizes = *number_sizes("float16");
  const auto host = memory_plan(kLargeV3, sizes), device = memory_plan(kLargeV3, on_gpu(sizes));
  EXPECT_EQ(device.sequence.value - host.sequence.value, 32 * kLargeV3.vocabulary);
  const std::int64_t slot =
      std::int64_t{32} * 2 * 1280 * 448 * 2;  // layers, keys and values, their width, tokens, bytes
  const std::int64_t row = (13 * 2 + 40) * 1280 + (4 + 2) * kLargeV3.vocabulary;  // states, integers, logits
  EXPECT_EQ(device.workspace.value - host.workspace.value, slot + 2 * kPromptRows * row);
  EXPECT_EQ(device.total(64, 1).value - host.total(64, 1).value,
            64 * 32 * kLargeV3.vocabulary + slot + 2 * kPromptRows * row);
  EXPECT_EQ(device.weights, host.weights);
  EXPECT_EQ(device.window, host.window);
}

TEST(MemoryPlan, AWorkerHoldsWindowsAheadOfThoseItStepsUpToSixtyFour) {
  const auto plan = memory_plan(kLargeV3, on_gpu(*number_sizes("int8_float16")));
  EXPECT_EQ(windows_in_flight(1), 3);
  EXPECT_EQ(windows_in_flight(8), 10);
  EXPECT_EQ(windows_in_flight(32), 36);
  for (const int slots : {60, 61, 63, 64}) EXPECT_EQ(windows_in_flight(slots), 64);
  EXPECT_EQ(windows_in_flight(96), 100);
  EXPECT_EQ(windows_in_flight(256), 264);
  EXPECT_EQ(plan.in_work(32, 1).value, plan.total(32, 1).value + 4 * plan.window.value);
  EXPECT_EQ(plan.in_work(64, 1), plan.total(64, 1));
  EXPECT_EQ(plan.in_work(8, 5, 8).value, plan.total(8, 5).value + 2 * plan.window.value + 8 * plan.sequence.value);
}

TEST(MemoryPlan, LogMelsThatWaitAreInTheMemoryOfTheHostAlone) {
  const auto sizes = *number_sizes("bfloat16");
  const auto host = memory_plan(kLargeV3, sizes), device = memory_plan(kLargeV3, on_gpu(sizes));
  EXPECT_EQ(host.mel.value, 128 * 3000 * 4);
  EXPECT_EQ(host.in_work(8, 1).value, host.total(8, 1).value + 2 * host.window.value + 10 * host.mel.value);
  EXPECT_EQ(device.mel.value, 0);
  EXPECT_EQ(mel_buffers(8), 10);
  EXPECT_EQ(mel_buffers(1024), 64) << "the others that wait are made ready as they are encoded";
}

TEST(MemoryPlan, WindowsAreEncodedTogetherWhereMemoryIsLeftForThem) {
  const auto plan = memory_plan(kLargeV3, on_gpu(*number_sizes("float16")));
  EXPECT_EQ(plan.encoding.value, 2LL * 2 * 8 * 1500 * 1280);
  const auto beside = [&](std::int64_t windows) {
    return encoded_together(plan, {plan.in_work(32, 1).value + windows * plan.encoding.value}, 32, 1);
  };
  EXPECT_EQ(beside(7), 8);
  EXPECT_EQ(beside(6), 4);
  EXPECT_EQ(beside(1), 2);
  EXPECT_EQ(beside(0), 1);
  EXPECT_EQ(beside(-9), 1) << "the slots are halved later";
  EXPECT_EQ(encoded_together(memory_plan(kLargeV3, *number_sizes("float16")), {kGigabyte << 10}, 8, 1), 1)
      << "on a CPU";
}

TEST(MemoryPlan, FillerSequencesReduceTheWindowsThatFit) {
  const auto plan = memory_plan(kLargeV3, *number_sizes("float16"));
  const Bytes available{13 * kGigabyte};
  const auto fewer = slots_that_fit(plan, available, 1, kFixedRows);
  EXPECT_LT(fewer, slots_that_fit(plan, available, 1));
  EXPECT_LE(plan.in_work(fewer, 1, kFixedRows), available);
  EXPECT_GT(plan.in_work(fewer + 1, 1, kFixedRows), available);
}

TEST(ModelShape, InHuggingFaceCacheComesFromTheRepositoryName) {
  EXPECT_EQ(model_shape("/nowhere/models--Systran--faster-whisper-large-v3/snapshots/edaa852ec7"), kLargeV3);
  EXPECT_FALSE(model_shape("/nowhere/models--me--mine/snapshots/edaa852ec7").has_value());
}

TEST(ModelShape, DistilledModelHasTheShortDecoder) {
  EXPECT_EQ(model_shape("/nowhere/faster-distil-whisper-large-v3")->text_layers, 2);
  EXPECT_EQ(model_shape("/nowhere/faster-distil-whisper-large-v3")->audio_layers, 32);
  EXPECT_EQ(model_shape("/nowhere/models--Systran--faster-distil-whisper-small.en/snapshots/abc")->text_layers, 4);
}

TEST(ModelShape, InvalidConfigGivesNoShape) {
  const TempFolder folder;
  for (const char* config : {"{}", "[]", R"({"model_type": "whisper", "d_model": -3})",
                             R"({"model_type": "whisper", "d_model": 99999999999})"}) {
    ASSERT_TRUE(write_file_atomically(folder.path() / "config.json", config).has_value());
    EXPECT_FALSE(model_shape(folder.path()).has_value()) << config;
  }
}

}  // namespace
}  // namespace tutti
