#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/json.h"
#include "small_whisper.h"
#include "train/optimiser.h"
#include "train/optimiser_step/step.h"

namespace tutti {
namespace {

// The formulas of tools/golden/train_steps.py.
constexpr std::int64_t kSteps = 50, kRows = 4, kTokens = 9, kFrames = 200;

at::Tensor formula(std::int64_t count, double phase, double scale) {
  auto values = at::empty({count}, at::TensorOptions(at::kDouble));
  for (std::int64_t i = 0; i < count; ++i)
    values.mutable_data_ptr<double>()[i] = scale * std::sin(0.37 * static_cast<double>(i) + phase);
  return values;
}

void fill(const WhisperTask& task) {
  const c10::NoGradGuard no_gradients;
  auto sorted = task.base();
  std::ranges::sort(sorted, {}, &Parameter::name);
  for (std::size_t index = 0; index < sorted.size(); ++index) {
    auto values = formula(sorted[index].value.numel(), static_cast<double>(index), 0.1);
    if (sorted[index].name.ends_with("layer_norm.weight")) values.add_(1);
    sorted[index].value.copy_(values.to(at::kFloat).view(sorted[index].value.sizes()));
  }
}

TaskBatch batch_of(std::int64_t step) {
  auto decoder_input = at::empty({kRows, kTokens}, at::TensorOptions(at::kLong));
  auto targets = at::empty({kRows, kTokens}, at::TensorOptions(at::kLong));
  TaskBatch batch{.ids = {{"0", "1", "2", "3"}}};
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t at = 0; at < kTokens; ++at) {
      const auto token = (7 * row + 3 * at + step) % 256;
      const bool is_target = at < kTokens - row;
      decoder_input.mutable_data_ptr<std::int64_t>()[row * kTokens + at] = token;
      targets.mutable_data_ptr<std::int64_t>()[row * kTokens + at] = is_target ? (token * 5 + 1) % 256 : kIgnoredTarget;
      batch.targets += is_target ? 1 : 0;
    }
  }
  const auto mel = formula(kRows * 80 * kFrames, static_cast<double>(step), 1).to(at::kFloat);
  batch.inputs = {mel.view({kRows, 80, kFrames}), decoder_input, targets};
  return batch;
}

TEST(StepParity, FiftyStepsHaveTheLossesOfPyTorchAndHuggingFace) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/tests/data/train/steps.json");
  const auto golden = nlohmann::json::parse(file);
  const auto task = small_task();
  fill(*task);
  TrainStep step(*task, {}, {});
  const RateSchedule rates{.shape = RateSchedule::Shape::cosine, .peak = 2e-3, .warmup = 5, .steps = kSteps};
  for (std::int64_t number = 1; number <= kSteps; ++number) {
    const auto batch = batch_of(number);
    const auto outcome = step.run({&batch, 1}, number, rates.at(number));
    const auto at = static_cast<std::size_t>(number - 1);
    EXPECT_NEAR(outcome.loss, golden["losses"][at].get<double>(), 1e-5) << "step " << number;
    const auto norm = golden["gradient_norms"][at].get<double>();
    EXPECT_NEAR(outcome.gradient_norm, norm, 1e-4 * norm) << "step " << number;
  }
}

}  // namespace
}  // namespace tutti
