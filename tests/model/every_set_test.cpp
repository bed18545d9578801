#include <gtest/gtest.h>

#include "model/instruction_sets.h"
#include "support/run_program.h"

namespace tutti {
namespace {

/// What computes with the kernels that TUTTI_INSTRUCTIONS leaves, and knows what the result has to be.
constexpr const char* kKernelTests =
    "--gtest_filter=*Products*:*Attention.*:*Attention/*:*OneRowAttention*:ByteKeysAndValues.*:Likeliest*:*LongRows*";

// The tests of this program run with all instructions of the processor. Here they run with fewer.
TEST(KernelTests, PassUnderEverySetOfInstructions) {
  for (const auto& one : sets_of_this_processor()) {
    const auto end = run_program({"/proc/self/exe", kKernelTests}, {"TUTTI_INSTRUCTIONS=" + one.name()});
    EXPECT_EQ(end.exit_code, 0) << "under " << one.name() << ":\n" << end.out;
    EXPECT_NE(end.out.find("[  PASSED  ]"), std::string::npos) << "under " << one.name() << " nothing ran";
  }
}

}  // namespace
}  // namespace tutti
