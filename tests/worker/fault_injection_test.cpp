#include "worker/fault_injection.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(InjectedFault, IsReadFromTheCommandLine) {
  EXPECT_EQ(parse_fault("crash-after=3").value().kind, InjectedFault::Kind::crash);
  EXPECT_EQ(parse_fault("crash-after=3").value().after, 3);
  EXPECT_EQ(parse_fault("hang-after=0").value().kind, InjectedFault::Kind::hang);
  EXPECT_EQ(parse_fault("garble-after=12").value().after, 12);
  for (const char* nonsense : {"", "crash", "crash-after=", "crash-after=x", "crash-after=-1", "crash-after=3 "}) {
    EXPECT_FALSE(parse_fault(nonsense).has_value()) << nonsense;
  }
}

}  // namespace
}  // namespace tutti
