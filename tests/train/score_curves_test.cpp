// Curves, calibration and groups of a classifier's answers.

#include "train/classifier/score_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tutti;

namespace {

FileAnswer answer(float first, std::int64_t label) {
  return {.probabilities = {first, 1 - first}, .label = label};
}

}  // namespace

TEST(ScoreCurve, AreaIsTheShareOfPairsInOrder) {
  std::mt19937 random(7);
  std::vector<ScoredFile> files;
  for (int i = 0; i < 200; ++i) {
    const bool is_label = random() % 3 == 0;
    files.push_back({static_cast<double>(random() % 20 + (is_label ? 5 : 0)), is_label});  // with many equal scores
  }
  double in_order = 0, pairs = 0;
  for (const auto& with : files)
    for (const auto& without : files)
      if (with.is_label && !without.is_label) {
        pairs += 1;
        in_order += with.score > without.score ? 1 : with.score == without.score ? 0.5 : 0;
      }
  const auto curve = score_curve(files);
  EXPECT_NEAR(curve.roc_area, in_order / pairs, 1e-12);
  EXPECT_EQ(curve.roc.front(), std::pair(0.0, 0.0));
  EXPECT_EQ(curve.roc.back(), std::pair(1.0, 1.0));
}

// sklearn.metrics.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) and roc_auc_score: 0.8333, 0.75.
TEST(ScoreCurve, AgreesWithScikitLearnsExample) {
  const auto curve = score_curve({{0.1, false}, {0.4, false}, {0.35, true}, {0.8, true}});
  EXPECT_NEAR(curve.average_precision, 0.8333333, 1e-6);
  EXPECT_NEAR(curve.roc_area, 0.75, 1e-12);
}

TEST(ScoreCurve, OneKindOfFilesHasNoArea) {
  EXPECT_TRUE(std::isnan(score_curve({{0.5, true}}).roc_area));
  EXPECT_TRUE(std::isnan(score_curve({{0.5, false}}).average_precision));
}

TEST(Calibration, ErrorIsTheGapBetweenScoreAndShare) {
  std::vector<FileAnswer> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(answer(0.95F, i < 6 ? 0 : 1));  // 95 % sure, 60 % right
  const auto calibration = calibration_of(answers, {});
  EXPECT_NEAR(calibration.error, 0.35, 1e-6);
  EXPECT_EQ(calibration.bins[9].files, 10);
  EXPECT_NEAR(calibration.bins[9].right, 0.6, 1e-12);
}

TEST(GroupScores, FilesAreCountedByTheirGroup) {
  const std::vector<FileAnswer> answers{answer(0.9F, 0), answer(0.9F, 1), answer(0.2F, 1)};
  const std::vector<std::string> groups{"a", "a", "b"};
  const auto scores = group_scores(answers, {}, groups);
  EXPECT_EQ(scores.at("a").files, 2);
  EXPECT_EQ(scores.at("a").right, 1);
  EXPECT_EQ(scores.at("b").right, 1);
}
