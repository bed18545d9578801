#include "audio/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Seconds kFrame{0.02};

/// A clock that frames of 20 ms are held against.
class Clocked {
 public:
  explicit Clocked(const TimelineRules& rules) : timeline_(rules) {}
  /// So many frames in a row, the first one stamped so; returns the silence before them all.
  double frames(double stamp, int count) {
    Seconds silence{0};
    for (int i = 0; i < count; ++i) silence += timeline_.silence_before(Seconds(stamp) + i * kFrame, kFrame);
    return silence.count();
  }
  Timeline& timeline() { return timeline_; }
  std::vector<std::string> losses() const { return report(true); }
  std::vector<std::string> notes() const { return report(false); }

 private:
  std::vector<std::string> report(bool losses) const {
    Losses lost, noted;
    timeline_.report(lost, noted);
    return (losses ? lost : noted).sentences();
  }
  Timeline timeline_;
};

TEST(Timeline, LateAudioIsPrecededBySilence) {
  Clocked it({.start = Seconds(10)});
  EXPECT_NEAR(it.frames(14.087, 50), 4.087, 1e-9);
  EXPECT_NEAR(it.timeline().lead().count(), 4.087, 1e-9);
  EXPECT_THAT(it.losses(), IsEmpty());
  EXPECT_THAT(it.notes(), ElementsAre(HasSubstr("begins 4.087 s after the picture")));
}

TEST(Timeline, WithoutAClockOfTheFileAudioBeginsAtZero) {
  Clocked it({});
  EXPECT_EQ(it.frames(36'000, 50), 0);
}

TEST(Timeline, ADecodersDelayIsNoLateBegin) {
  Clocked it({.start = Seconds(0)});
  EXPECT_EQ(it.frames(0.092, 50), 0);
  EXPECT_NEAR(it.frames(2.092, 50), 1, 1e-6) << "counted from there";
}

TEST(Timeline, EveryHoleIsFilledAndSmallOnesAreSummed) {
  Clocked it({.start = Seconds(0)});
  double stamp = 0, silence = 0;
  for (int hole = 0; hole < 54; ++hole, stamp += 10 * 0.02 + 0.08) silence += it.frames(stamp, 10);
  EXPECT_NEAR(silence, 53 * 0.08, 1e-6);
  EXPECT_THAT(it.losses(), IsEmpty());
  EXPECT_THAT(it.notes(), ElementsAre(HasSubstr("4.24 s of sound are missing in 53 small holes")));
}

TEST(Timeline, AHoleOfSecondsIsALossOfItsOwn) {
  Clocked it({.start = Seconds(0), .end = Seconds(11)});
  EXPECT_EQ(it.frames(0, 120), 0);
  EXPECT_NEAR(it.frames(8.4, 130), 6, 1e-6);
  EXPECT_THAT(it.losses(), ElementsAre(testing::AllOf(HasSubstr("at 00:00:02.4"), HasSubstr("6.0 s of sound"))));
}

TEST(Timeline, SmallDriftsAddUpUntilTheyAreFilled) {
  Clocked it({.start = Seconds(0)});
  double stamp = 0, silence = 0;
  for (int i = 0; i < 1000; ++i, stamp += 0.021) silence += it.frames(stamp, 1);
  EXPECT_NEAR(silence, 1.0, 0.06);
}

TEST(Timeline, RoundedStampsCostNothing) {
  Clocked it({.start = Seconds(0)});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(it.frames(std::round(i * 20 + (i % 3) * 12) / 1000, 1), 0);
}

TEST(Timeline, AClockThatBeginsAgainDoesNotShiftWhatFollows) {
  Clocked it({.start = Seconds(0)});
  EXPECT_EQ(it.frames(0, 500), 0);
  EXPECT_EQ(it.frames(0, 100), 0) << "joined transport streams";
  EXPECT_NEAR(it.frames(3, 100), 1, 1e-6) << "a hole behind that";
}

TEST(Timeline, ImplausibleJumpIsReportedAndNotFilled) {
  Clocked transport({.may_restart = true, .start = Seconds(0)});
  transport.frames(0, 100);
  EXPECT_EQ(transport.frames(95'000, 100), 0);
  EXPECT_THAT(transport.losses(), ElementsAre(HasSubstr("jump by 94998.0 s")));
  Clocked beyond_end({.start = Seconds(0), .end = Seconds(60)});
  beyond_end.frames(0, 100);
  EXPECT_EQ(beyond_end.frames(3000, 100), 0);
  EXPECT_THAT(beyond_end.losses(), ElementsAre(HasSubstr("may be early from here on")));
}

TEST(Timeline, FramesWithoutStampsFollowOn) {
  Timeline timeline({.start = Seconds(0)});
  timeline.silence_before(Seconds(0), kFrame);
  EXPECT_EQ(timeline.silence_before(std::nullopt, kFrame), Seconds(0));
  EXPECT_EQ(timeline.silence_before(Seconds(0.04), kFrame), Seconds(0));
  timeline.stop();
  EXPECT_EQ(timeline.silence_before(Seconds(100), kFrame), Seconds(0));
}

}  // namespace
}  // namespace tutti
