#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "train/classifier/file_scores.h"
#include "train/classifier/network.h"

using namespace tutti;

namespace {

std::int64_t count_of(const std::vector<Parameter>& parameters) {
  std::int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.value.numel();
  return count;
}

}  // namespace

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
