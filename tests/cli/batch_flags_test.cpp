#include "cli/batch/batch_flags.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

BatchOptions on_two_devices(std::string policy) {
  BatchOptions options;
  options.policy = std::move(policy);
  options.devices = {{.id = "left"}, {.id = "right"}};
  return options;
}

}  // namespace

TEST(BatchFlags, TheNotesPolicyAloneComesWithItsCaps) {
  BatchOptions note = on_two_devices("note");
  limit_as_the_note(note);
  EXPECT_EQ(note.job_cap("left"), 5);
  EXPECT_EQ(note.job_cap("right"), 5);
  EXPECT_EQ(note.jobs_at_once, 10);
}

TEST(BatchFlags, ExplicitLimitsOverrideTheNotesCaps) {
  BatchOptions capped = on_two_devices("note");
  capped.job_caps = {{"left", 2}};
  limit_as_the_note(capped);
  EXPECT_EQ(capped.job_cap("left"), 2);
  EXPECT_FALSE(capped.job_cap("right"));
  EXPECT_EQ(capped.jobs_at_once, 0);
  BatchOptions few = on_two_devices("note");
  few.jobs_at_once = 3;
  limit_as_the_note(few);
  EXPECT_EQ(few.job_cap("left"), 5);
  EXPECT_EQ(few.jobs_at_once, 3);
}

TEST(BatchFlags, DevicesThatDoNotRoundAlikeAreNamed) {
  using Kind = ResolvedDevice::Kind;
  const ChosenDevice card{.id = "GPU-1", .device = {.kind = Kind::cuda, .uuid = "GPU-1", .name = "NVIDIA L4"}};
  ChosenDevice same = card, other = card;
  same.id = same.device.uuid = "GPU-2";
  other.device.name = "NVIDIA A10";
  const ChosenDevice core{.id = "cpu:0", .device = {.kind = Kind::cpu, .name = "core 0 of EPYC", .core = 0}};
  const ChosenDevice played{.id = "left", .device = {.kind = Kind::emulated, .name = "emulated:30x:12GB"}};
  EXPECT_EQ(unlike_kinds({card, same}), "");
  EXPECT_EQ(unlike_kinds({core, {.id = "cpu:1", .device = {.kind = Kind::cpu, .name = "core 1 of EPYC", .core = 1}}}),
            "");
  EXPECT_EQ(unlike_kinds({card, played}), "");
  EXPECT_EQ(unlike_kinds({card, other}), "NVIDIA A10 and NVIDIA L4");
  EXPECT_EQ(unlike_kinds({card, core}), "NVIDIA L4 and the CPU");
}

TEST(BatchFlags, OtherPoliciesHaveNoCapsOfTheirOwn) {
  for (const char* policy : {"tutti", "fifo", "round_robin"}) {
    BatchOptions options = on_two_devices(policy);
    limit_as_the_note(options);
    EXPECT_FALSE(options.job_cap("left")) << policy;
    EXPECT_EQ(options.jobs_at_once, 0) << policy;
  }
}

TEST(BatchFlags, StrongerSourceWinsBetweenDeviceAndDevices) {
  BatchCommand command{.devices = "emulated:30x:12GB", .device = "cuda:0"};
  settle_devices(command, SourceKind::variable, SourceKind::flag);
  EXPECT_FALSE(command.device);
  EXPECT_EQ(command.devices, "emulated:30x:12GB");
  command.device = "cuda:0";
  settle_devices(command, SourceKind::flag, SourceKind::file);
  EXPECT_EQ(command.device, "cuda:0");
  EXPECT_EQ(command.devices, "");
}

TEST(BatchFlags, DeviceAndDevicesOfOneSourceAreRefused) {
  BatchCommand command{.devices = "emulated:30x:12GB", .device = "cuda:0"};
  settle_devices(command, SourceKind::flag, SourceKind::flag);
  const auto devices = devices_of(command);
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().what, "--device and --devices: expected one of them, found both");
}
