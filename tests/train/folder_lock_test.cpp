#include <gtest/gtest.h>

#include "support/log_capture.h"
#include "support/no_locks.h"
#include "support/temp_folder.h"
#include "train/checkpoint/folder.h"

namespace tutti {
namespace {

TEST(FolderLock, OneTrainingHoldsAFolderAndTheNextTakesItOver) {
  const TempFolder out;
  {
    const auto first = hold_folder(out / "train");
    ASSERT_TRUE(first) << first.error().text();
    const auto second = hold_folder(out / "train", Seconds(0));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().fault, Fault::refused);
    EXPECT_NE(second.error().what.find((out / "train").string()), std::string::npos) << second.error().what;
    EXPECT_TRUE(hold_folder(out / "other", Seconds(0)));
  }
  EXPECT_TRUE(hold_folder(out / "train", Seconds(0)));
}

TEST(FolderLock, WithoutFileLocksTheTrainingWarnsAndRuns) {
  const TempFolder out;
  LogCapture log;
  const NoLocks none;
  EXPECT_TRUE(hold_folder(out.path()));
  EXPECT_TRUE(hold_folder(out.path()));
  EXPECT_EQ(log.count("would not be noticed"), 2);
}

}  // namespace
}  // namespace tutti
