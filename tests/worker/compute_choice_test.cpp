#include <gtest/gtest.h>

#include "worker/compute_type.h"

namespace tutti {
namespace {

constexpr DeviceAbility kCpu{.own_kernels = true};
constexpr DeviceAbility kOldCpu{};
constexpr DeviceAbility kHopper{.cuda = true, .capability = 90};
constexpr DeviceAbility kTuring{.cuda = true, .capability = 75};
constexpr DeviceAbility kPascal{.cuda = true, .capability = 61};

std::string chosen(const std::string& name, const DeviceAbility& device) {
  return std::string(choose_compute_type(name, device).value().type.name());
}

TEST(ComputeChoice, SupportedTypeIsUsedSilently) {
  for (const auto* name : {"float32", "bfloat16", "int8"}) {
    EXPECT_EQ(chosen(name, kCpu), name);
    EXPECT_EQ(choose_compute_type(name, kCpu)->why, "");
  }
  for (const auto* name : {"float32", "tf32", "bfloat16", "float16", "int8_float16"})
    EXPECT_EQ(chosen(name, kHopper), name);
}

TEST(ComputeChoice, UnsupportedTypeFallsBackToNearestWithReason) {
  EXPECT_EQ(chosen("float16", kCpu), "float32");
  EXPECT_EQ(chosen("int8_float16", kCpu), "int8");
  EXPECT_EQ(chosen("int8_float16", kOldCpu), "float32");
  EXPECT_EQ(chosen("int8", kHopper), "int8_float16");
  EXPECT_EQ(chosen("bfloat16", kTuring), "float16");
  EXPECT_EQ(chosen("tf32", kTuring), "float32");
  EXPECT_EQ(chosen("tf32", kCpu), "float32");
  EXPECT_EQ(chosen("int8", kPascal), "float16");
  EXPECT_EQ(choose_compute_type("int8", kPascal)->why,
            "on a GPU int8 goes with float16; GPUs before Turing have no int8 products");
}

TEST(ComputeChoice, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  const auto choice = choose_compute_type("int3", kCpu);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().fault, Fault::usage);
  EXPECT_NE(choice.error().text().find("int8_float16"), std::string::npos);
}

}  // namespace
}  // namespace tutti
