#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "small_whisper.h"
#include "support/test_models.h"

namespace tutti {
namespace {

/// What the network that transcribes makes of the same window and tokens.
at::Tensor logits_of(const WhisperModel& model, const at::Tensor& mel, const std::vector<std::int32_t>& tokens) {
  const c10::InferenceMode guard;
  const auto window = model.cross_kv(model.encode(mel));
  auto cache = model.make_self_kv(1);
  const SequenceStep step{.tokens = tokens, .window = &window};
  return model.decode({&step, 1}, cache).clone();
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

TEST(TrainedNetwork, GivesTheLogitsOfTheNetworkThatTranscribes) {
  const c10::NoGradGuard no_gradients;
  const auto task = small_task();
  const auto model = task->snapshot();
  at::manual_seed(1);
  const auto mel = at::randn({80, 200});
  const std::vector<std::int32_t> tokens{257, 263, 97, 98, 256};
  const auto decoder_input = at::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end())).unsqueeze(0);
  WhisperWeights weights;
  std::size_t i = 0;
  for (const auto& slot : weight_slots(weights, openai_shape(task->dims()))) *slot.tensor = task->base()[i++].value;
  const auto states = encode(weights, task->dims(), mel.unsqueeze(0), {});
  const auto found = decode(weights, task->dims(), decoder_input, states, {}).squeeze(0);
  EXPECT_LT(relative_difference(found, logits_of(model, mel, tokens)), 1e-5);
}

TEST(TrainedNetwork, GivesTheLogitsOfAStoredWhisper) {
  TUTTI_NEEDS_TINY_MODEL();
  const c10::NoGradGuard no_gradients;
  const auto path = tiny_model();
  auto recipe = small_recipe();
  const auto task = WhisperTask::start(recipe, path).value();
  const auto model = WhisperModel::load(path, at::kCPU, ComputeType::float32).value();
  at::manual_seed(2);
  const auto mel = at::randn({80, 3000});
  const std::vector<std::int32_t> tokens{50257, 50362, 1115, 1936};
  const auto decoder_input = at::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end())).unsqueeze(0);
  WhisperWeights weights;
  std::size_t i = 0;
  for (const auto& slot : weight_slots(weights, openai_shape(task->dims()))) *slot.tensor = task->base()[i++].value;
  const auto states = encode(weights, task->dims(), mel.unsqueeze(0), {});
  const auto found = decode(weights, task->dims(), decoder_input, states, {}).squeeze(0);
  EXPECT_LT(relative_difference(found, logits_of(model, mel, tokens)), 1e-5);
}

/// Gradients of one batch under a recipe.
std::vector<at::Tensor> gradients_of(const WhisperRecipe& recipe) {
  const auto task = small_task(recipe);
  const auto batch = task->prepare(small_batch(0, 3));
  at::manual_seed(5);
  task->loss_sum(batch.inputs, true).backward();
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : task->trained())
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad());
  return gradients;
}

TEST(TrainedNetwork, ComputedTwiceItHasTheSameGradientsDropoutIncluded) {
  for (const int rank : {0, 2})
    for (const bool frozen : {false, true}) {
      auto recipe = small_recipe();
      recipe.learning.dropout = 0.3;
      recipe.learning.lora_rank = rank;
      recipe.learning.freeze_encoder = frozen;
      const auto kept = gradients_of(recipe);
      recipe.hardware.gradient_checkpointing = true;
      const auto again = gradients_of(recipe);
      ASSERT_EQ(kept.size(), again.size());
      ASSERT_FALSE(kept.empty());
      for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_TRUE(at::equal(kept[i], again[i])) << i << " with additions of rank " << rank << ", frozen " << frozen;
    }
}

TEST(TrainedNetwork, AFrozenEncoderGetsNoGradients) {
  auto recipe = small_recipe();
  recipe.learning.freeze_encoder = true;
  const auto task = small_task(recipe);
  task->loss_sum(task->prepare(small_batch(0, 2)).inputs, true).backward();
  for (const auto& parameter : task->trained())
    EXPECT_EQ(parameter.value.grad().defined(), parameter.name.starts_with("model.decoder.")) << parameter.name;
}

TEST(TrainedNetwork, LowRankAdditionsBeginAtTheStoredModelAndAloneGetGradients) {
  auto recipe = small_recipe();
  const auto plain = small_task(recipe);
  recipe.learning.lora_rank = 2;
  const auto added = small_task(recipe);
  EXPECT_EQ(largest_difference(added->weights(), plain->weights()), 0);
  added->loss_sum(added->prepare(small_batch(0, 2)).inputs, true).backward();
  for (const auto& parameter : added->trained()) EXPECT_TRUE(parameter.value.grad().defined()) << parameter.name;
  for (const auto& parameter : added->base()) EXPECT_FALSE(parameter.value.grad().defined()) << parameter.name;
}

TEST(TrainedNetwork, WhereTheEncoderIsFrozenNothingIsAddedToIt) {
  auto recipe = small_recipe();
  recipe.learning.lora_rank = 2;
  recipe.learning.freeze_encoder = true;
  const auto task = small_task(recipe);
  ASSERT_FALSE(task->trained().empty());
  for (const auto& parameter : task->trained())
    EXPECT_TRUE(parameter.name.starts_with("model.decoder.")) << parameter.name;
}

}  // namespace
}  // namespace tutti
