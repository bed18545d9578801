#include "profile/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Three rounds in which two devices were 18 % faster than one, and 30 % than none.
DeviceChoice choice() {
  return {.data = "cuda:0",
          .model = "cuda:1",
          .rounds = {{6.08, 6.69, 7.9}, {6.1, 6.7, 7.92}, {6.05, 6.68, 7.88}},
          .bound = 1.2115,
          .copying = Seconds(0.0087),
          .link = "SYS"};
}

TEST(DeviceChoice, AllWaysAndTheirBoundAreInTheText) {
  const auto text = device_choice_text(choice());
  EXPECT_THAT(text, HasSubstr("no data device: 6.1 steps a second"));
  EXPECT_THAT(text, HasSubstr("cuda:1 alone: 6.7 steps a second"));
  EXPECT_THAT(text, HasSubstr("1.18x (1.18 to 1.18) of cuda:1 alone, 1.30x (1.29 to 1.31) of no data device"));
  EXPECT_THAT(text, HasSubstr("at most 1.21x"));
  EXPECT_THAT(text, HasSubstr("8.7 ms a step"));
  EXPECT_THAT(text, HasSubstr("SYS, a slow one"));
  EXPECT_THAT(text, HasSubstr("is worth it"));
}

TEST(DeviceChoice, SecondDeviceThatGainsLittleIsNotWorthIt) {
  auto little = choice();
  for (DeviceRound& round : little.rounds) round.two = round.one * 1.05;
  little.link = "PIX";
  EXPECT_THAT(device_choice_text(little), HasSubstr("is not worth it"));
  EXPECT_THAT(device_choice_text(little), HasSubstr("PIX, a fast one"));
  EXPECT_THAT(device_choice_json(little), HasSubstr(R"("worth":false,"decided":true)"));
}

TEST(DeviceChoice, NoDataDeviceThatIsAsFastMakesTheSecondNotWorthIt) {
  auto plain = choice();
  for (DeviceRound& round : plain.rounds) round.none = round.two;
  EXPECT_EQ(plain.worth(), DeviceWorth::no);
}

TEST(DeviceChoice, UnevenRoundsDecideNothing) {
  auto uneven = choice();
  uneven.rounds = {{6, 6, 7.2}, {6, 6, 6.3}, {6, 6, 7.8}};
  EXPECT_EQ(uneven.worth(), DeviceWorth::not_known);
  EXPECT_THAT(device_choice_text(uneven), HasSubstr("is not decided: after 3 rounds it gains 0.90x to 1.54x"));
  EXPECT_THAT(device_choice_json(uneven), HasSubstr(R"("worth":false,"decided":false)"));
}

TEST(DeviceChoice, OneRoundDecidesNothing) {
  auto once = choice();
  once.rounds.resize(1);
  EXPECT_EQ(once.worth(), DeviceWorth::not_known);
  EXPECT_THAT(device_choice_json(once), HasSubstr(R"("high":null)"));
}

TEST(DeviceChoice, WhatIsMeasuredBeyondTheBoundIsNoGain) {
  auto disturbed = choice();
  disturbed.bound = 1.04;
  EXPECT_THAT(device_choice_text(disturbed), HasSubstr("on one device at most 1.04x; more than that"));
  EXPECT_THAT(device_choice_text(disturbed), HasSubstr("is not worth it"));
  EXPECT_THAT(device_choice_text(choice()), Not(HasSubstr("more than that")));
}

TEST(DeviceChoice, UnknownLinkIsLeftOut) {
  auto cores = choice();
  cores.link.reset();
  EXPECT_THAT(device_choice_text(cores), Not(HasSubstr("Link")));
  EXPECT_THAT(device_choice_json(cores), HasSubstr(R"("link":null)"));
}

}  // namespace
}  // namespace tutti
