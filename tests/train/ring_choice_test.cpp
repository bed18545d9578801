#include "train/ring_choice.h"

#include <gtest/gtest.h>

#include "support/environment.h"
#include "support/scoped_recording.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// A cache of its own, and no recording: what a training has.
class RingChoiceTest : public testing::Test {
 protected:
  TempFolder folder_{};
  const std::string cache_ = folder_.path().string();
  ScopedVariable variable_{"TUTTI_CACHE", cache_.c_str()};

  static RingRequest request(std::int32_t depth = 0) {
    return {.training = "train test", .depth = depth, .has_feed = true};
  }
};

TEST_F(RingChoiceTest, OpenDepthBeginsAsTheTrainingBeforeEnded) {
  const RingChoice first(request());
  EXPECT_EQ(first.options().depth, 3);
  EXPECT_GT(first.options().most_depth, 3);
  EXPECT_EQ(first.behind(), 0);
  first.remember({.depth = 9, .behind = 4, .batches = 100});
  const RingChoice second(request());
  EXPECT_EQ(second.options().depth, 3) << "until batches are known to fit";
  EXPECT_EQ(second.options().known_depth, 9);
  EXPECT_EQ(second.behind(), 4);
  second.remember({.depth = 9, .behind = 2, .batches = 100});  // beside those that it began with
  EXPECT_EQ(RingChoice(request()).behind(), 6);
  auto other = request();
  other.training = "train another";
  EXPECT_EQ(RingChoice(other).options().known_depth, 3);
}

TEST_F(RingChoiceTest, DepthOfTheRecipeIsKept) {
  RingChoice(request()).remember({.depth = 9, .behind = 4, .batches = 100});
  const RingChoice choice(request(5));
  EXPECT_EQ(choice.options().depth, 5);
  EXPECT_EQ(choice.options().most_depth, 5);
  EXPECT_EQ(choice.options().known_depth, 0);
  EXPECT_EQ(choice.options().most_behind, 0);
  EXPECT_EQ(choice.behind(), 0);
  choice.remember({.depth = 5, .batches = 100});
  EXPECT_EQ(RingChoice(request()).options().known_depth, 9) << "what was set is not remembered";
}

TEST_F(RingChoiceTest, RecordedTrainingChoosesItsRingAsAnyOther) {
  RingChoice(request()).remember({.depth = 9, .batches = 100});
  const std::string file = (folder_.path() / "recording.json").string();
  const RingChoice plain(request());
  const ScopedRecording recording({.recording = file});
  const RingChoice choice(request());
  EXPECT_EQ(choice.options().known_depth, 9);
  EXPECT_EQ(choice.options().most_depth, plain.options().most_depth);
  EXPECT_EQ(choice.options().most_behind, plain.options().most_behind);
}

TEST_F(RingChoiceTest, WithoutMemoryNoBatchMoreWaits) {
  auto tight = request();
  tight.memory = {};
  const RingChoice choice(tight);
  EXPECT_EQ(choice.options().depth, 3);
  EXPECT_EQ(choice.options().most_depth, 3);
}

}  // namespace
}  // namespace tutti
