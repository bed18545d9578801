#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "train/classifier/augmentation.h"
#include "train/classifier/file_decision.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/network.h"

using namespace tutti;

namespace {

std::int64_t count_of(const std::vector<Parameter>& parameters) {
  std::int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.value.numel();
  return count;
}

/// The formulas of tools/golden/classifier.py.
at::Tensor formula(std::int64_t count, double phase, double scale) {
  auto values = at::empty({count}, at::TensorOptions(at::kFloat));
  for (std::int64_t i = 0; i < count; ++i)
    values.mutable_data_ptr<float>()[i] = static_cast<float>(scale * std::sin(0.37 * static_cast<double>(i) + phase));
  return values;
}

nlohmann::json golden() {
  return nlohmann::json::parse(read_file(std::string(TUTTI_SOURCE_DIR) + "/tests/data/train/classifier.json").value());
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const auto flat = tensor.detach().contiguous().flatten();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

void expect_near(const std::vector<float>& found, const nlohmann::json& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i].get<double>(), tolerance * std::max(1.0, std::abs(expected[i].get<double>())))
        << i;
}

}  // namespace

TEST(ClassifierNetwork, AnswersLossesAndGradientsAreThoseOfPyTorch) {
  const auto expected = golden();
  const auto shape = classifier_shape(leak_geometry(), 5, 32, true);
  auto parameters = new_classifier(shape, 1, at::kCPU);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].value = formula(parameters[i].value.numel(), static_cast<double>(i), 0.05)
                              .view(parameters[i].value.sizes())
                              .set_requires_grad(true);
  const auto x = formula(6 * 64, 0.5, 1).view({6, 64, 1});
  const auto labels = at::tensor({0, 1, 2, 3, 4, 0}, at::TensorOptions(at::kLong));
  const auto answers = classifier_logits(shape, parameters, x, 0);
  expect_near(values_of(answers.labels), expected["labels"], 1e-5);
  expect_near(values_of(answers.against), expected["against"], 1e-5);
  for (const bool is_focal : {false, true}) {
    const char* kind = is_focal ? "focal" : "cross-entropy";
    for (auto& parameter : parameters) parameter.value.mutable_grad().reset();
    const auto loss =
        losses_of({.label_weights = at::tensor({0.5F, 2.0F, 1.5F, 0.25F, 0.75F}), .is_focal = is_focal, .against = 2},
                  classifier_logits(shape, parameters, x, 0), labels)
            .sum();
    loss.backward();
    EXPECT_NEAR(loss.item<double>(), expected["losses"][kind].get<double>(), 1e-4) << kind;
    std::vector<float> norms;
    for (const auto& parameter : parameters) norms.push_back(parameter.value.grad().norm().item<float>());
    expect_near(norms, expected["gradient_norms"][kind], 1e-4);
  }
}

TEST(FileDecision, TwentyOfFortyLongSegmentsDecide) {
  std::vector<float> shorts;
  for (int i = 0; i < 40; ++i) {
    shorts.push_back(i < 20 ? 0.9F : 0.1F);
    shorts.push_back(i < 20 ? 0.3F : 0.1F);
  }
  auto longs = long_probabilities(shorts, 2);
  ASSERT_EQ(longs.size(), 40);
  EXPECT_FLOAT_EQ(longs[0], 0.6F);
  EXPECT_TRUE(has_label({.threshold = 0.55}, longs));
  longs[0] = 0.5F;
  EXPECT_FALSE(has_label({.threshold = 0.55}, longs));
}

TEST(FileDecision, ThresholdWithTheHighestF1IsSwept) {
  const auto file = [](float value, bool has) { return DecidedFile{std::vector<float>(4, value), has}; };
  const std::vector<DecidedFile> files{file(0.2F, false), file(0.3F, false), file(0.42F, true), file(0.8F, true)};
  const double threshold = swept_threshold(files);
  EXPECT_GT(threshold, 0.3);
  EXPECT_LT(threshold, 0.42);
  EXPECT_DOUBLE_EQ(score_decisions({.threshold = threshold}, files).f1, 1);
  EXPECT_DOUBLE_EQ(swept_threshold({}), 0.5);
}

TEST(FileScores, DecisionGoesBeforeTheMostProbableLabel) {
  const AgainstRule rule{.label = 1, .decision = {.threshold = 0.3}};
  EXPECT_EQ(label_of(rule, {{0.6F, 0.4F, 0}, 0, {0.35F, 0.4F}}), 1);
  EXPECT_EQ(label_of(rule, {{0.3F, 0.6F, 0.1F}, 0, {0.1F, 0.2F}}), 0);
  EXPECT_EQ(label_of({}, {{0.3F, 0.6F, 0.1F}, 0, {}}), 1);
}

TEST(ClassifierNetwork, HasTheNotesParametersAtFiveLabels) {
  const auto shape = classifier_shape(leak_geometry(), 5, 32, /*has_against=*/true);
  EXPECT_EQ(count_of(new_classifier(shape, 1, at::kCPU)), 618'758);
}

TEST(ClassifierNetwork, ReducedKernelsOfOneFrameAreExact) {
  const c10::AutoGradMode no_gradients(false);
  const auto shape = classifier_shape(leak_geometry(), 5, 32, true);
  const auto p = new_classifier(shape, 1, at::kCPU);
  const auto x = at::randn({7, 64, 1});
  auto y = x.unsqueeze(1);
  y = at::relu(at::conv2d(y, p[0].value, p[1].value, 1, 1));
  y = at::max_pool2d(at::relu(at::conv2d(y, p[2].value, p[3].value, 1, 1)), {2, 1}, {2, 1});
  y = at::max_pool2d(at::relu(at::conv2d(y, p[4].value, p[5].value, 1, 1)), {2, 1}, {2, 1});
  y = at::relu(at::linear(at::adaptive_avg_pool2d(y, {16, 1}).flatten(1), p[6].value, p[7].value));
  const auto found = classifier_logits(shape, p, x, 0);
  EXPECT_TRUE(at::allclose(found.labels, at::linear(y, p[8].value, p[9].value), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(found.against, at::linear(y, p[10].value, p[11].value).squeeze(1), 1e-5, 1e-6));
}

TEST(ClassifierNetwork, ShapeSurvivesItsJson) {
  const auto shape = classifier_shape(clip_geometry(Hertz{8000}, Seconds(0.6)), 10, 16, false);
  const auto read = read_shape(show_shape(shape));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(show_shape(*read), show_shape(shape));
  EXPECT_EQ(read_shape("{}").error().fault, Fault::corrupt);
}

TEST(FileScores, CountsAreThoseOfTheConfusion) {
  const std::vector<FileAnswer> answers{{{0.9F, 0.1F}, 0}, {{0.2F, 0.8F}, 0}, {{0.1F, 0.9F}, 1}, {{0.4F, 0.6F}, 1}};
  const auto scores = score_files(answers, 3);
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(scores.labels[0].precision, 1);
  EXPECT_DOUBLE_EQ(scores.labels[0].recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.labels[1].f1, 0.8);
  EXPECT_EQ(scores.labels[2].files, 0);
  EXPECT_NEAR(scores.macro_f1, (2.0 / 3 + 0.8) / 2, 1e-12) << "labels without files do not count";
}

TEST(FileScores, BetterAnswersRankLower) {
  const std::vector<std::string> names{"a", "b"};
  const std::vector<FileAnswer> sure{{{0.9F, 0.1F}, 0}, {{0.1F, 0.9F}, 1}},
      unsure{{{0.6F, 0.4F}, 0}, {{0.4F, 0.6F}, 1}}, wrong{{{0.1F, 0.9F}, 0}, {{0.1F, 0.9F}, 1}};
  const auto rank = [&](const std::vector<FileAnswer>& answers) {
    return task_scores(score_files(answers, 2), names).rank;
  };
  EXPECT_LT(rank(sure), rank(unsure));
  EXPECT_LT(rank(unsure), rank(wrong));
}

namespace {

Batch batch_of_rows(std::int64_t rows, std::int64_t epoch = 0) {
  SetRows all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return {.index = 7 + epoch, .epoch = epoch, .content = std::move(all)};
}

double level_of(const at::Tensor& decibels) {
  return 10 * std::log10(at::exp(decibels * (std::log(10.0) / 10)).mean().item<double>());
}

}  // namespace

TEST(ClassifierAugmentation, NoiseIsAsFarBelowTheAudioAsRequested) {
  const auto geometry = leak_geometry();
  constexpr double kQuiet = -200, kLevel = -20;
  for (const double below : {0.0, 10.0}) {
    const ClassifierAugmentation augmentation(
        ClassifierRecipe{.augmentation = {.noise_share = 1, .noise_least_db = below, .noise_most_db = below},
                         .arithmetic = {.seed = 3}},
        geometry, at::kCPU);
    auto features = at::full({256, 64, 1}, kQuiet, at::TensorOptions(at::kFloat));
    features.select(1, 10).fill_(kLevel);
    const auto noisy = augmentation.changed(features, augmentation.drawn(batch_of_rows(256)));
    auto others = noisy.clone();
    others.select(1, 10).fill_(kQuiet);
    EXPECT_NEAR(level_of(others), level_of(features) - below, 1);
  }
  const ClassifierAugmentation half(ClassifierRecipe{.augmentation = {.noise_share = 0.5}, .arithmetic = {.seed = 3}},
                                    geometry, at::kCPU);
  const auto features = at::full({256, 64, 1}, kLevel, at::TensorOptions(at::kFloat));
  const auto changed = half.changed(features, half.drawn(batch_of_rows(256))).ne(features).flatten(1).any(1);
  EXPECT_NEAR(changed.to(at::kFloat).mean().item<double>(), 0.5, 0.1);
}

TEST(ClassifierAugmentation, NotesGeometryIsChangedOnRequestAlone) {
  EXPECT_TRUE(ClassifierAugmentation({}, leak_geometry(), at::kCPU).is_off());
  const auto clip = clip_geometry(Hertz{8000}, Seconds(0.6));
  EXPECT_FALSE(ClassifierAugmentation({}, clip, at::kCPU).is_off());
  EXPECT_TRUE(ClassifierAugmentation(ClassifierRecipe{.augmentation = {.gain_db = 0, .shift_share = 0}}, clip, at::kCPU)
                  .is_off());
  const ClassifierAugmentation louder(ClassifierRecipe{.augmentation = {.gain_db = 12}}, leak_geometry(), at::kCPU);
  const auto features = at::zeros({512, 64, 1}, at::TensorOptions(at::kFloat));
  const auto gains = louder.changed(features, louder.drawn(batch_of_rows(512))).select(1, 0);
  EXPECT_NEAR(gains.max().item<double>(), 12, 0.5);
  EXPECT_NEAR(gains.min().item<double>(), -12, 0.5);
}

TEST(ClassifierAugmentation, SpecAugmentBlanksOnlyWhenSwitchedOn) {
  const auto clip = clip_geometry(Hertz{8000}, Seconds(0.6));
  const auto features = at::ones({200, clip.mel.n_mels, clip.frames()}, at::TensorOptions(at::kFloat));
  const auto blanked = [&](const ClassifierRecipe& recipe) {
    const ClassifierAugmentation augmentation(recipe, clip, at::kCPU);
    return features.ne(augmentation.masked(features, augmentation.drawn(batch_of_rows(200))))
        .to(at::kFloat)
        .mean()
        .item<double>();
  };
  EXPECT_EQ(blanked({}), 0);
  EXPECT_NEAR(blanked(ClassifierRecipe{.augmentation = {.use_specaugment = true}}), 0.19, 0.04)
      << "two masks of 0 to 20 % each";
}

TEST(ClassifierAugmentation, DrawsDependOnSeedEpochAndRowAlone) {
  ClassifierRecipe recipe;
  recipe.augmentation.noise_share = 1;
  recipe.augmentation.mixup = 0.4;
  recipe.augmentation.use_specaugment = true;
  recipe.arithmetic.seed = 5;
  const auto clip = clip_geometry(Hertz{8000}, Seconds(0.6));
  const ClassifierAugmentation augmentation(recipe, clip, at::kCPU), again(recipe, clip, at::kCPU);
  const auto first = augmentation.drawn(batch_of_rows(9)), second = again.drawn(batch_of_rows(9));
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(at::equal(first[i], second[i])) << i;
  EXPECT_FALSE(at::equal(first[0], augmentation.drawn(batch_of_rows(9, 1))[0]));
  EXPECT_TRUE(at::equal(first[0].narrow(0, 0, 4), augmentation.drawn(batch_of_rows(4))[0]));
  const auto shares = augmentation.own_shares(augmentation.drawn(batch_of_rows(2000)));
  EXPECT_NEAR(shares.mean().item<double>(), 0.5, 0.03);
  EXPECT_NEAR(shares.var().item<double>(), 0.25 / 1.8, 0.01) << "of Beta(0.4, 0.4)";
}
