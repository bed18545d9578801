// The bytes of a trace in Perfetto's format.

#include "metrics/perfetto_track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(PerfettoTrack, SliceIsTwoPacketsWithTimesFromTheOneBefore) {
  PerfettoTrack track(1, 2, "decode");
  track.slice("first", microseconds(5), microseconds(6));
  track.take();
  track.slice("first", nanoseconds(6'300), nanoseconds(6'310));
  // packet, length; timestamp 300; sequence 1; needs state; event: begin, name 1. Then: timestamp 10; event: end.
  EXPECT_EQ(track.take(), bytes({0x0a, 13, 0x40, 0xac, 0x02, 0x50, 1,    0x68, 2,    0x5a, 4,    0x48, 1, 0x50, 1,  //
                                 0x0a, 10, 0x40, 10,   0x50, 1,    0x68, 2,    0x5a, 2,    0x48, 2}));
}

TEST(PerfettoTrack, NameIsWrittenOnce) {
  PerfettoTrack track(1, 2, "decode");
  track.slice("a long name", microseconds(5), microseconds(6));
  track.slice("another", microseconds(7), microseconds(8));
  EXPECT_THAT(track.take(), testing::AllOf(HasSubstr("a long name"), HasSubstr("another")));
  track.slice("a long name", microseconds(9), microseconds(10));
  EXPECT_THAT(track.take(), testing::Not(HasSubstr("long")));
}

TEST(PerfettoTrack, SliceBeforeTheLastOnesEndIsCut) {
  PerfettoTrack track(1, 2, "decode");
  track.slice("a", microseconds(5), microseconds(9));
  track.take();
  track.slice("a", microseconds(7), microseconds(8));
  const std::string both = track.take();
  EXPECT_EQ(both.substr(2, 2), bytes({0x40, 0})) << "no time goes backwards";
  EXPECT_EQ(both.substr(both.size() - 10, 2), bytes({0x40, 0}));
}

}  // namespace
}  // namespace tutti
