#include "profile/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

DeviceChoice choice() {
  return {.data = "cuda:0",
          .model = "cuda:1",
          .one_rate = 6.69,
          .two_rate = 7.9,
          .bound = 1.2115,
          .copying = Seconds(0.0087),
          .link = "SYS"};
}

TEST(DeviceChoice, BothWaysAndTheirBoundAreInTheText) {
  const auto text = device_choice_text(choice());
  EXPECT_THAT(text, HasSubstr("cuda:1 alone: 6.7 steps a second"));
  EXPECT_THAT(text, HasSubstr("1.18x measured, at most 1.21x"));
  EXPECT_THAT(text, HasSubstr("8.7 ms a step"));
  EXPECT_THAT(text, HasSubstr("SYS, a slow one"));
  EXPECT_THAT(text, HasSubstr("is worth it"));
}

TEST(DeviceChoice, SecondDeviceThatGainsLittleIsNotWorthIt) {
  auto little = choice();
  little.two_rate = 7;
  little.link = "PIX";
  EXPECT_THAT(device_choice_text(little), HasSubstr("is not worth it"));
  EXPECT_THAT(device_choice_text(little), HasSubstr("PIX, a fast one"));
  EXPECT_THAT(device_choice_json(little), HasSubstr(R"("worth":false)"));
}

TEST(DeviceChoice, WhatIsMeasuredBeyondTheBoundIsNoGain) {
  auto disturbed = choice();
  disturbed.bound = 1.04;
  EXPECT_THAT(device_choice_text(disturbed), HasSubstr("at most 1.04x by the phases of a step on one; more than that"));
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
