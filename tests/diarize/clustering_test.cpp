#include "diarize/clustering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

using testing::ElementsAre;

/// Vectors of length 1 at these angles.
Vectors at_angles(std::initializer_list<double> degrees) {
  Vectors vectors;
  for (const double angle : degrees) {
    const double turn = angle * M_PI / 180;
    const float one[] = {static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(turn))};
    vectors.add(one);
  }
  return vectors;
}

TEST(Clustering, NearVectorsAreOneClusterNumberedByFirstMember) {
  const auto labels = ClusterTree(at_angles({0, 90, 5, 95, 180, 10})).cut({.threshold = 0.5F});
  EXPECT_THAT(labels, ElementsAre(0, 1, 0, 1, 2, 0));
}

TEST(Clustering, MergesAreThoseOfTheGreedyWayNearestFirst) {
  const auto merges = average_linkage(at_angles({0, 10, 60, 61}));
  ASSERT_EQ(merges.size(), 3U);
  EXPECT_EQ(merges[0].a, 2U);
  EXPECT_EQ(merges[0].b, 3U);
  EXPECT_EQ(merges[1].a, 0U);
  // Average linkage: the mean of the four distances between the pairs.
  double mean = 0;
  for (const double angle : {60.0, 61.0, 50.0, 51.0}) mean += (1 - std::cos(angle * M_PI / 180)) / 4;
  EXPECT_NEAR(merges[2].distance, mean, 1e-5);
}

TEST(Clustering, CountOfClustersMovesTheCut) {
  const auto merges = average_linkage(at_angles({0, 10, 60, 61}));
  EXPECT_THAT(cut_tree(merges, 4, {.threshold = 2, .least = 3}), ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(cut_tree(merges, 4, {.threshold = 0, .most = 1}), ElementsAre(0, 0, 0, 0));
}

TEST(Clustering, BlocksComeToTheSameClusters) {
  Vectors many;
  for (int i = 0; i < 60; ++i) {
    const auto one = at_angles({(i % 3) * 90.0 + (i % 7)});
    many.add(one[0]);
  }
  const ClusterTree in_blocks(many, 16), at_once(many);
  EXPECT_EQ(in_blocks.cut({}), at_once.cut({}));
  const Cut three{.threshold = 2, .least = 3, .most = 3};
  EXPECT_EQ(in_blocks.cut(three), at_once.cut(three)) << "a given number of clusters is none of each block";
}

TEST(Clustering, NothingAndOneVectorAreClusters) {
  EXPECT_TRUE(ClusterTree({}).cut({}).empty());
  EXPECT_THAT(ClusterTree(at_angles({30})).cut({}), ElementsAre(0));
}

}  // namespace
}  // namespace tutti
