#include "diarize/error_rate.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using Turns = std::vector<SpeakerTurn>;

const Turns kReference{{0, 4, "a"}, {4, 8, "b"}, {8, 12, "a"}, {12.5, 15, "c"}};
const Turns kHypothesis{{0.2, 4.3, "x"}, {4.3, 7.5, "y"}, {7.5, 12.2, "x"}, {12.2, 14, "z"}, {14, 16, "y"}};
// Of two and three at once, and of one speaker twice at once.
const Turns kOverlapping{{0, 5, "a"}, {3.5, 7.25, "b"}, {6, 9, "a"}, {8, 9.5, "a"}, {9.25, 12, "c"}, {9.25, 12, "b"}};
const Turns kOverlappingFound{{0.1, 6.2, "1"}, {4, 9.4, "2"}, {9, 12.5, "3"}, {10, 11, "1"}, {13, 14, "4"}};

struct Case {
  const Turns& reference;
  const Turns& hypothesis;
  DiarizationScoring scoring;
  double missed, false_alarm, confusion, total, rate;  // of pyannote.metrics 4.2.0, whose collar is twice ours
};

TEST(DiarizationErrors, AreThoseOfPyannoteMetrics) {
  const Case cases[] = {
      {kReference, kHypothesis, {}, 0.2, 1.5, 1.8, 14.5, 0.2413793103448276},
      {kReference, kHypothesis, {.collar = 0.25}, 0, 0.75, 1.05, 12.5, 0.144},
      {kOverlapping, kOverlappingFound, {}, 4.5, 2.75, 3.4, 18.75, 0.5680000000000001},
      {kOverlapping, kOverlappingFound, {.skip_overlap = true}, 0.1, 2.75, 1, 5.5, 0.7000000000000001},
      {kOverlapping, kOverlappingFound, {.collar = 0.25}, 2.5, 1.75, 1.75, 12.25, 0.4897959183673469},
      {kOverlapping,
       kOverlappingFound,
       {.collar = 0.25, .skip_overlap = true},
       0,
       1.75,
       0.25,
       3.75,
       0.5333333333333333}};
  for (const auto& it : cases) {
    const auto errors = diarization_errors(it.reference, it.hypothesis, it.scoring);
    EXPECT_NEAR(errors.missed, it.missed, 1e-12);
    EXPECT_NEAR(errors.false_alarm, it.false_alarm, 1e-12);
    EXPECT_NEAR(errors.confusion, it.confusion, 1e-12);
    EXPECT_NEAR(errors.total, it.total, 1e-12);
    EXPECT_NEAR(errors.rate(), it.rate, 1e-12);
  }
}

TEST(DiarizationErrors, TheSameTurnsUnderOtherNamesHaveNone) {
  Turns renamed = kOverlapping;
  for (auto& turn : renamed) turn.speaker = "speaker " + turn.speaker;
  const auto errors = diarization_errors(kOverlapping, renamed);
  EXPECT_EQ(errors.rate(), 0);
  EXPECT_EQ(errors.reference_speakers, 3u);
  EXPECT_EQ(errors.hypothesis_speakers, 3u);
}

TEST(DiarizationErrors, WithoutSpeechTheRateIsOneWhereSomeWasFound) {
  EXPECT_EQ(diarization_errors(Turns{}, Turns{}).rate(), 0);
  EXPECT_EQ(diarization_errors(Turns{}, kHypothesis).rate(), 1);
  EXPECT_EQ(diarization_errors(kReference, Turns{}).rate(), 1);
}

TEST(DiarizationErrors, RecordingsAreComparedByTheirNames) {
  const RecordingTurns reference{{"one", kReference}, {"two", kOverlapping}};
  const auto errors = diarization_errors(reference, {{"two", kOverlapping}});
  ASSERT_TRUE(errors) << errors.error().text();
  EXPECT_EQ(errors->at("one").rate(), 1);
  EXPECT_EQ(errors->at("two").rate(), 0);
  const auto other = diarization_errors(reference, {{"two", kOverlapping}, {"three", kReference}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().fault, Fault::usage);
  EXPECT_THAT(other.error().what, HasSubstr("'three'"));
}

TEST(DiarizationErrors, TheNamesOfOneRecordingEachMayDiffer) {
  const auto errors = diarization_errors(RecordingTurns{{"truth", kReference}}, RecordingTurns{{"talk", kReference}});
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->at("truth").rate(), 0);
}

}  // namespace
}  // namespace tutti
