#include <gtest/gtest.h>

#include "worker/window_server.h"

namespace tutti {
namespace {

TEST(Turns, WithOneKindOfWorkItIsDone) {
  EXPECT_EQ(next_action({}), NextAction::nothing);
  EXPECT_EQ(next_action({.to_encode = true, .encoded_last = true}), NextAction::encode);
  EXPECT_EQ(next_action({.to_step = true}), NextAction::step);
}

TEST(Turns, WhileSlotsAreFreeWindowsAreEncodedFirst) {
  EXPECT_EQ(next_action({.to_encode = true, .to_step = true, .free_slots = true, .last_encoding = Seconds(9)}),
            NextAction::encode);
}

TEST(Turns, LiveSequencesMoveOnBetweenAnyTwoEncodings) {
  EXPECT_EQ(next_action({.to_encode = true, .to_step = true, .free_slots = true, .encoded_last = true}),
            NextAction::step);
}

TEST(Turns, WithAllSlotsTakenEncoderAndDecoderGetTheSameTime) {
  WorkAtHand work{.to_encode = true, .to_step = true, .last_encoding = Seconds(0.2), .stepping_since = Seconds(0.19)};
  EXPECT_EQ(next_action(work), NextAction::step);
  work.stepping_since = Seconds(0.2);
  EXPECT_EQ(next_action(work), NextAction::encode);
}

TEST(Turns, WithAllSlotsTakenAWholeBatchOrAFreeSlotIsAwaited) {
  WorkAtHand work{.to_encode = true, .to_step = true, .partial_batch = true, .stepping_since = Seconds(9)};
  EXPECT_EQ(next_action(work), NextAction::step);
  work.free_slots = true;
  EXPECT_EQ(next_action(work), NextAction::encode);
  work = {.to_encode = true, .partial_batch = true};
  EXPECT_EQ(next_action(work), NextAction::encode) << "nothing else to do";
}

TEST(Turns, AnEncodingBesideStepsBeginsAsSoonAsAWindowWaits) {
  EXPECT_EQ(next_action({.to_encode = true,
                         .to_step = true,
                         .partial_batch = true,
                         .beside_steps = true,
                         .encoded_last = true,
                         .last_encoding = Seconds(9)}),
            NextAction::encode);
  EXPECT_EQ(next_action({.to_step = true, .beside_steps = true}), NextAction::step);
}

}  // namespace
}  // namespace tutti
