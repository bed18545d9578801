#include <ATen/Parallel.h>
#include <gtest/gtest.h>

// The networks here are tiny: another thread would only be waited for, the longer the busier the machine is.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  at::set_num_threads(1);
  return RUN_ALL_TESTS();
}
