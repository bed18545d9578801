#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "feed/labelled/labelled_set.h"
#include "support/temp_folder.h"
#include "train/classifier/task.h"

using namespace tutti;

namespace {

constexpr std::size_t kFiles = 12;

/// A set of `kFiles` clips in turn of labels A, B and C, with values that differ from clip to clip.
std::shared_ptr<const LabelledSet> small_set(const TempFolder& folder) {
  const auto geometry = clip_geometry(Hertz{8000}, Seconds(0.2), 8);
  const std::vector<std::string> labels{"A", "B", "C"};
  std::vector<std::vector<std::uint16_t>> mel(kFiles);
  std::vector<LabelledRow> rows(kFiles);
  for (std::size_t i = 0; i < kFiles; ++i) {
    auto values = at::empty({geometry.values()}, at::TensorOptions(at::kHalf));
    for (std::int64_t k = 0; k < values.numel(); ++k)
      values[k] = -30 + 10 * std::sin(0.7 * static_cast<double>(k) + 3.0 * static_cast<double>(i));
    const auto* data = static_cast<const std::uint16_t*>(values.const_data_ptr());
    mel[i].assign(data, data + values.numel());
    const auto name = std::to_string(i);
    rows[i] = {
        .name = name, .group = name, .label = static_cast<std::int16_t>(i % 3), .checksum = row_checksum(name, mel[i])};
  }
  const auto path = folder / "SET.H5";
  const auto written =
      write_labelled_part(path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = [&](std::size_t row) {
                                   return std::span<const std::uint16_t>(mel[row]);
                                 }});
  EXPECT_TRUE(written) << written.error().text();
  return LabelledSet::open(path).value();
}

Batch batch_of_rows(std::vector<std::int64_t> rows) {
  return {.content = std::move(rows)};
}

/// The loss of rows in that order by a task of the recipe, whose weights are those of its seed.
double loss_of(ClassifierRecipe recipe, const std::shared_ptr<const LabelledSet>& set, std::vector<std::int64_t> rows) {
  const c10::AutoGradMode no_gradients(false);
  recipe.arithmetic.device = "cpu";
  recipe.augmentation.gain_db = recipe.augmentation.shift_share = 0;
  const auto task = ClassifierTask::start(recipe, set).value();
  return task->loss_sum(task->prepare(batch_of_rows(std::move(rows))).inputs, false).item<double>();
}

}  // namespace

TEST(ClassifierTask, BoostWeighsTheOneLabelOfBinaryMode) {
  const TempFolder folder;
  const auto set = small_set(folder);
  const auto loss = [&](double boost, std::int64_t row) {
    ClassifierRecipe recipe;
    recipe.network.against = "B";
    recipe.network.binary_mode = true;
    recipe.network.boost = boost;
    return loss_of(recipe, set, {row});
  };
  EXPECT_DOUBLE_EQ(loss(1, 0), loss(5, 0)) << "a clip of the rest";
  const double once = loss(1, 1), thrice = loss(3, 1), twice = loss(2, 1);
  EXPECT_GT(twice - once, 0.1);
  EXPECT_NEAR(thrice - twice, twice - once, 1e-5);
}

TEST(ClassifierTask, BinaryModeLearnsOneLabelAndTheRest) {
  const TempFolder folder;
  const auto set = small_set(folder);
  const auto task =
      ClassifierTask::start(
          ClassifierRecipe{.network = {.against = "B", .binary_mode = true}, .arithmetic = {.device = "cpu"}}, set)
          .value();
  EXPECT_EQ(task->model().labels, (std::vector<std::string>{"B", "NOT_B"}));
  EXPECT_TRUE(task->model().is_binary);
  const auto inputs = task->prepare(batch_of_rows({0, 1, 2, 4})).inputs;
  EXPECT_TRUE(at::equal(inputs[1], at::tensor({1, 0, 1, 0}, at::TensorOptions(at::kLong))));
  EXPECT_EQ(
      ClassifierTask::start(ClassifierRecipe{.network = {.binary_mode = true}, .arithmetic = {.device = "cpu"}}, set)
          .error()
          .fault,
      Fault::usage);
}

TEST(ClassifierTask, MixtureOfTwoHasTheLossOfBothLabels) {
  const TempFolder folder;
  const auto set = small_set(folder);
  // The two clips of a batch are each mixed with the other, in shares that the seed draws.
  ClassifierRecipe recipe;
  recipe.augmentation.mixup = 1;
  recipe.arithmetic.device = "cpu";
  recipe.arithmetic.seed = 4;
  auto still = recipe;
  still.augmentation.gain_db = still.augmentation.shift_share = 0;
  const auto task = ClassifierTask::start(still, set).value();
  const auto inputs = task->prepare(batch_of_rows({0, 1})).inputs;
  const auto shares = inputs[2].select(1, 3);
  EXPECT_GT(shares[0].item<double>(), 0.02);
  EXPECT_LT(shares[0].item<double>(), 0.98);
  const c10::AutoGradMode no_gradients(false);
  const auto& model = task->model();
  const auto x = model.normalised(inputs[0].to(at::kFloat));
  double expected = 0;
  for (std::int64_t own = 0; own < 2; ++own) {
    const double share = shares[own].item<double>();
    const auto mixture = share * x[own] + (1 - share) * x[1 - own];
    const auto logits = classifier_logits(model.shape, model.weights, mixture.unsqueeze(0), 0);
    const auto all = at::log_softmax(logits.labels, 1)[0];
    expected -= share * all[inputs[1][own].item<std::int64_t>()].item<double>() +
                (1 - share) * all[inputs[1][1 - own].item<std::int64_t>()].item<double>();
  }
  EXPECT_NEAR(task->loss_sum(inputs, false).item<double>(), expected, 1e-5);
}

TEST(ClassifierTask, SecondStageBeginsWithTheFirstOnesWeights) {
  const TempFolder folder;
  const auto set = small_set(folder);
  const auto first = ClassifierTask::start(ClassifierRecipe{.network = {.against = "B", .binary_mode = true},
                                                            .arithmetic = {.device = "cpu", .seed = 1}},
                                           set)
                         .value();
  const auto second =
      ClassifierTask::start(ClassifierRecipe{.network = {.against = "B"}, .arithmetic = {.device = "cpu", .seed = 2}},
                            set)
          .value();
  second->begin_with(first->model());
  const auto own = second->weights(), theirs = first->weights();
  for (std::size_t i = 0; i < own.size(); ++i)
    EXPECT_EQ(at::equal(own[i].value, theirs[i].value), !own[i].name.starts_with("head.")) << own[i].name;
}
