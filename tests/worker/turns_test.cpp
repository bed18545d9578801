#include "worker/turns.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Turns, WithOneKindOfWorkItIsDone) {
  EXPECT_EQ(next_turn({}), Turn::nothing);
  EXPECT_EQ(next_turn({.to_encode = true, .encoded_last = true}), Turn::encode);
  EXPECT_EQ(next_turn({.to_step = true}), Turn::step);
}

TEST(Turns, WhileSlotsAreFreeWindowsAreEncodedFirst) {
  EXPECT_EQ(next_turn({.to_encode = true, .to_step = true, .free_slots = true, .last_encoding = Seconds(9)}),
            Turn::encode);
}

TEST(Turns, LiveSequencesMoveOnBetweenAnyTwoEncodings) {
  EXPECT_EQ(next_turn({.to_encode = true, .to_step = true, .free_slots = true, .encoded_last = true}), Turn::step);
}

TEST(Turns, WithAllSlotsTakenEncoderAndDecoderGetTheSameTime) {
  WorkAtHand work{.to_encode = true, .to_step = true, .last_encoding = Seconds(0.2), .stepping_since = Seconds(0.19)};
  EXPECT_EQ(next_turn(work), Turn::step);
  work.stepping_since = Seconds(0.2);
  EXPECT_EQ(next_turn(work), Turn::encode);
}

}  // namespace
}  // namespace tutti
