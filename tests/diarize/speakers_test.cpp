#include "diarize/speakers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

using testing::ElementsAre;

/// Speech of so many seconds; the voices are at right angles. -1: silence.
struct Scene {
  SpeechActivity activity{};
  std::vector<SpeakerPiece> pieces{};
  Vectors voices{};

  explicit Scene(std::initializer_list<std::pair<int, double>> stretches) {
    for (const auto& [voice, seconds] : stretches) {
      const auto frames = static_cast<std::size_t>(std::lround(seconds / 0.016875));
      const std::size_t before = activity.frames();
      activity.speech.insert(activity.speech.end(), frames, voice < 0 ? 0.0F : 1.0F);
      activity.two.insert(activity.two.end(), frames, 0.0F);
      activity.changes.insert(activity.changes.end(), frames, 0);
      if (voice < 0) continue;
      activity.changes[before] = 1;
      const auto regions = std::vector<FrameRange>{{before, activity.frames()}};
      for (auto& piece : speaker_pieces(activity, regions, 1 << 20, {})) {
        std::vector<float> one(4);
        one[static_cast<std::size_t>(voice)] = 1;
        voices.add(one);
        pieces.push_back(std::move(piece));
      }
    }
  }
  FoundSpeakers found(const SpeakerCount& count = {}, std::span<const KnownVoice> known = {}) const {
    return find_speakers(activity, pieces, voices, count, known);
  }
};

std::vector<std::string> order_of(const FoundSpeakers& found) {
  std::vector<std::string> order;
  for (const SpeakerTurn& turn : found.turns) order.push_back(turn.speaker);
  return order;
}

TEST(FindSpeakers, SpeakersAreNumberedByTheirFirstTurns) {
  const auto found = Scene({{2, 6}, {0, 6}, {2, 6}}).found();
  EXPECT_THAT(order_of(found), ElementsAre("SPEAKER_00", "SPEAKER_01", "SPEAKER_00"));
  ASSERT_EQ(found.speakers.size(), 2U);
  EXPECT_NEAR(found.speakers[0].seconds, 12, 0.1);
  EXPECT_EQ(found.speakers[0].nearest, "SPEAKER_01");
  EXPECT_NEAR(found.turns[1].start, 6, 0.05);
}

TEST(FindSpeakers, ShortVoiceIsNoSpeakerUnlessTheCountIsGiven) {
  const Scene scene({{0, 9}, {1, 1.5}, {0, 9}});
  EXPECT_EQ(scene.found().speakers.size(), 1U);
  EXPECT_EQ(scene.found({.exact = 2}).speakers.size(), 2U);
  EXPECT_EQ(scene.found({.least = 2}).speakers.size(), 2U);
}

TEST(FindSpeakers, MostSpeakersJoinsTheNearest) {
  const Scene scene({{0, 6}, {1, 6}, {2, 6}});
  EXPECT_EQ(scene.found().speakers.size(), 3U);
  EXPECT_EQ(scene.found({.most = 2}).speakers.size(), 2U);
  EXPECT_EQ(scene.found({.exact = 1}).speakers.size(), 1U);
  EXPECT_EQ(scene.found({.exact = 50}).speakers.size(), 3U) << "more speakers than voices";
}

/// Two speakers, one with another microphone later on, and a cough that is like none of them.
Scene with_cough() {
  Scene scene({{0, 9}, {1, 9}, {3, 1.5}, {0, 9}, {2, 9}});
  for (std::size_t i = 0; i < scene.voices.size(); ++i) {
    float* voice = &scene.voices.values[i * scene.voices.dimensions];
    if (voice[2] > 0) voice[1] = 0.3F, voice[2] = 0.954F;
  }
  return scene;
}

TEST(FindSpeakers, FewerSpeakersJoinVoicesNotAVoiceAndACough) {
  EXPECT_EQ(with_cough().found().speakers.size(), 3U);
  for (const SpeakerCount& count : {SpeakerCount{.exact = 2}, SpeakerCount{.most = 2}}) {
    const auto found = with_cough().found(count);
    ASSERT_EQ(found.speakers.size(), 2U);
    EXPECT_GT(found.speakers[0].seconds, 17);
    EXPECT_GT(found.speakers[1].seconds, 17);
  }
}

TEST(FindSpeakers, TheRightCountChangesNothing) {
  EXPECT_EQ(with_cough().found({.exact = 3}).turns, with_cough().found().turns);
}

TEST(FindSpeakers, KnownVoiceGivesItsNameAndOthersKeepTheirNumbers) {
  const std::vector<KnownVoice> known{{"ANNA", {0, 1, 0, 0}}, {"BEN", {0, 0, 0, 1}}};
  const auto found = Scene({{0, 6}, {1, 6}}).found({}, known);
  EXPECT_THAT(order_of(found), ElementsAre("SPEAKER_00", "ANNA"));
  EXPECT_EQ(found.speakers[1].known_at, 1.0);
}

TEST(FindSpeakers, LabelOfANumberIsNoNameOfAKnownSpeaker) {
  EXPECT_TRUE(is_speaker_label(speaker_label(1)) && is_speaker_label(speaker_label(100)));
  EXPECT_FALSE(is_speaker_label("ANNA") || is_speaker_label("SPEAKER_X") || is_speaker_label("SPEAKER_"));
}

TEST(FindSpeakers, SecondSpeakerOfOverlapIsTheNearestOther) {
  Scene scene({{0, 6}, {1, 6}});
  for (std::size_t frame = 350; frame < 356; ++frame) scene.activity.two[frame] = 1;
  const auto found = scene.found();
  EXPECT_THAT(order_of(found), ElementsAre("SPEAKER_00", "SPEAKER_01"));
  EXPECT_LT(found.turns[1].start, found.turns[0].end - 0.05);
}

TEST(FindSpeakers, SpeechTooShortForAVoiceHasOneSpeaker) {
  Scene scene({{0, 0.06}});
  EXPECT_TRUE(scene.pieces.empty());
  EXPECT_EQ(scene.found().speakers.size(), 1U);
  EXPECT_TRUE(Scene({{-1, 5}}).found().turns.empty());
}

}  // namespace
}  // namespace tutti
