#include <ATen/ATen.h>
#include <gtest/gtest.h>

// libtorch seeds its generator from the machine's noise (Python's torch then seeds it again, with one number). Tests
// that compare random draws with a tolerance would differ from run to run; this seed makes every run draw the same.

namespace tutti {
namespace {

class SeedTorch : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override { at::manual_seed(1); }
};

[[maybe_unused]] const bool kSeeded = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new SeedTorch);  // which googletest deletes
  return true;
}();

}  // namespace
}  // namespace tutti
