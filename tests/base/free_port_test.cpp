#include "base/free_port.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(FreePort, IsOne) {
  const auto port = free_port();
  ASSERT_TRUE(port);
  EXPECT_GT(*port, 0);
}

}  // namespace
}  // namespace tutti
