#include "device/visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;

std::vector<Gpu> four_gpus() {
  std::vector<Gpu> gpus(4);
  const char* uuids[] = {"GPU-11112222", "GPU-11113333", "GPU-44445555", "GPU-4444"};
  for (int i = 0; i < 4; ++i) {
    gpus[static_cast<std::size_t>(i)].index = i;
    gpus[static_cast<std::size_t>(i)].uuid = uuids[i];
  }
  return gpus;
}

std::vector<int> indices(const VisibleGpus& visible) {
  std::vector<int> all;
  for (const auto& gpu : visible.gpus) all.push_back(gpu.index);
  return all;
}

TEST(VisibleGpus, UnsetShowsAllAndEmptyShowsNone) {
  EXPECT_EQ(indices(visible_gpus(four_gpus(), std::nullopt)), (std::vector{0, 1, 2, 3}));
  for (const char* none : {"", " "}) {
    const auto visible = visible_gpus(four_gpus(), none);
    EXPECT_TRUE(visible.gpus.empty());
    EXPECT_EQ(visible.problem, std::nullopt);
  }
}

TEST(VisibleGpus, TheUsersOrderCounts) {
  EXPECT_EQ(indices(visible_gpus(four_gpus(), "3, 0")), (std::vector{3, 0}));
  EXPECT_EQ(indices(visible_gpus(four_gpus(), "GPU-44445555,GPU-11113333,0")), (std::vector{2, 1, 0}));
}

TEST(VisibleGpus, AUuidMayBeShortenedAndAWholeOneWinsOverALongerOne) {
  EXPECT_EQ(indices(visible_gpus(four_gpus(), "GPU-11112")), (std::vector{0}));
  EXPECT_EQ(indices(visible_gpus(four_gpus(), "GPU-4444")), (std::vector{3}));
  EXPECT_EQ(indices(visible_gpus(four_gpus(), "gpu-44445555")), (std::vector{2}));
}

TEST(VisibleGpus, AnEntryThatNamesNothingHidesItselfAndWhatFollows) {
  for (const char* entry : {"-1", "4", "x", "GPU-1111", "GPU-9", "MIG-1", "1x"}) {
    const auto visible = visible_gpus(four_gpus(), std::string("2,") + entry + ",0");
    EXPECT_EQ(indices(visible), (std::vector{2})) << entry;
    ASSERT_TRUE(visible.problem);
    EXPECT_THAT(*visible.problem, HasSubstr(std::string("'") + entry + "' names no GPU"));
  }
  const auto twice = visible_gpus(four_gpus(), "1,1,0");
  EXPECT_EQ(indices(twice), (std::vector{1}));
  EXPECT_THAT(twice.problem.value_or(""), HasSubstr("twice"));
}

}  // namespace
}  // namespace tutti
