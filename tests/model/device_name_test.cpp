#include "model/device_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gpu.h"

namespace tutti {
namespace {

TEST(DeviceNamed, TheProcessorHasOneName) {
  EXPECT_EQ(device_named("cpu").value(), at::Device(at::kCPU));
}

TEST(DeviceNamed, UnknownDeviceIsAUsageError) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:0", "-1"}) {
    const auto device = device_named(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().fault, Fault::usage) << name;
    EXPECT_THAT(device.error().what, testing::HasSubstr("expected cpu or cuda:N")) << name;
  }
}

TEST(DeviceNamed, ACardThatIsNotThereIsMissing) {
  const auto device = device_named("cuda:" + std::to_string(gpu::count()));
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().fault, Fault::missing);
  EXPECT_THAT(device.error().what, testing::HasSubstr("this engine sees"));
}

}  // namespace
}  // namespace tutti
