#include "recipe/trainers/imported_yaml.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recipe/recipe_file.h"
#include "recipe/tts_fields.h"

using namespace tutti;

namespace {

Result<ImportedConfig> imported(const std::string& yaml) {
  return import_yaml(yaml, "config.yaml", recipe_text(TtsRecipe()).keys);
}

/// The recipe that a YAML file gives.
Result<TtsRecipe> recipe_in(const std::string& yaml) {
  const auto config = imported(yaml);
  if (!config) return tl::unexpected<Error>(config.error());
  return read_recipe<TtsRecipe>(config->toml, "config.yaml");
}

/// The answers that contain `part`.
std::ptrdiff_t answers_with(const ImportedConfig& config, const std::string& part) {
  return std::ranges::count_if(config.answers,
                               [&](const auto& answer) { return answer.find(part) != std::string::npos; });
}

constexpr const char* kNote =
    "model:\n"
    "  text_encoder_dim: 256\n"
    "  n_mels: 80\n"
    "  audio_encoder_dim: 256\n"
    "  enable_gradient_checkpointing: true\n"
    "training:\n"
    "  epochs: 500\n"
    "  learning_rate: 1e-4\n"
    "  scheduler: cosine_with_restarts\n"
    "  gradient_clip_norm: 0.5\n"
    "data:\n"
    "  batch_size: 56\n"
    "  num_workers: 16\n"
    "  prefetch_buffer_size: 16\n"
    "  use_tf_native_loading: true\n"
    "  prefetch_to_gpu: true\n"
    "  enable_map_fusion: true\n";

}  // namespace

TEST(ImportedYaml, KeysOfTheNoteBecomeOurs) {
  const auto recipe = recipe_in(kNote);
  ASSERT_TRUE(recipe) << recipe.error().text();
  EXPECT_EQ(recipe->network.width, 256);
  EXPECT_EQ(recipe->batches.epochs, 500);
  EXPECT_EQ(recipe->batches.max_steps, 0) << "the usual number of steps would end 500 epochs early";
  EXPECT_EQ(recipe->optimiser.learning_rate, 1e-4);
  EXPECT_EQ(recipe->optimiser.schedule, RateShape::cosine);
  EXPECT_EQ(recipe->optimiser.clip, 0.5);
  EXPECT_EQ(recipe->batches.size, 56);
  EXPECT_EQ(recipe->batches.ring_depth, 16);
  EXPECT_TRUE(recipe->network.gradient_checkpointing);
}

TEST(ImportedYaml, EveryOtherKeyHasItsAnswerWithFileAndLine) {
  const auto config = imported(kNote).value();
  EXPECT_EQ(answers_with(config, "config.yaml:3: model.n_mels: no effect: "), 1);
  EXPECT_EQ(answers_with(config, "config.yaml:13: data.num_workers: there are no loader processes"), 1);
  EXPECT_EQ(answers_with(config, "data.prefetch_to_gpu: no effect: "), 1);
  EXPECT_EQ(answers_with(config, "unknown"), 0);
  EXPECT_EQ(config.answers.size(), 7) << "six without effect, and the steps that follow from the epochs";
}

TEST(ImportedYaml, AnUnknownKeyIsNamedWithTheNearest) {
  const auto config = imported("data:\n  batch_sise: 4\n  zzzzzzzz: 1\n").value();
  EXPECT_EQ(answers_with(config, "config.yaml:2: data.batch_sise: unknown, no effect; did you mean 'batch_size'?"), 1);
  EXPECT_EQ(answers_with(config, "config.yaml:3: data.zzzzzzzz: unknown, no effect"), 1);
}

TEST(ImportedYaml, ValuesAreThoseOfYaml12) {
  const auto recipe =
      recipe_in("{lr: 1e-4, seed: +7, log_order: True, model_gpu: 1, mixed_precision: true, model_size: tiny}");
  ASSERT_TRUE(recipe) << recipe.error().text();
  EXPECT_EQ(recipe->optimiser.learning_rate, 1e-4);
  EXPECT_EQ(recipe->arithmetic.seed, 7u);
  EXPECT_TRUE(recipe->run.log_order);
  EXPECT_EQ(recipe->arithmetic.device, "cuda:1");
  EXPECT_EQ(recipe->arithmetic.precision, StepPrecision::bfloat16);
  EXPECT_EQ(recipe->network.model_size, VoiceSize::tiny);
}

TEST(ImportedYaml, AWrongValueIsNamedWithItsLine) {
  const auto recipe = recipe_in("training:\n  seed: 1\n  batch_size: many\n");
  ASSERT_FALSE(recipe);
  EXPECT_TRUE(recipe.error().text().starts_with("config.yaml:3: 'batch-size': expected a whole number"))
      << recipe.error().text();
}

TEST(ImportedYaml, TwoKeysForOneSettingAreRefused) {
  const auto config = imported("lr: 1\nlearning_rate: 2\n");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().fault, Fault::usage);
  EXPECT_NE(config.error().text().find("config.yaml:2: learning_rate and lr both set learning-rate"),
            std::string::npos);
}

TEST(ImportedYaml, WhatIsNoYamlIsRefusedWithItsLine) {
  for (const char* text : {"a: [1, 2\nb: 3\n", "just words", "- 1\n- 2\n", "a: 1\n\tb: 2\n", ""}) {
    const auto config = imported(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().fault, Fault::usage);
    EXPECT_TRUE(config.error().text().starts_with("config.yaml:")) << config.error().text();
  }
}

TEST(ImportedYaml, ValuesThatAreNoScalarsHaveNoEffect) {
  const auto config = imported("batch_size: [1, 2]\nseed:\n").value();
  EXPECT_EQ(answers_with(config, "config.yaml:1: batch_size: no effect: a list"), 1);
  EXPECT_EQ(answers_with(config, "config.yaml:2: seed: no value"), 1);
}
