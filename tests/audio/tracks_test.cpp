#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/containers/audio_length.h"
#include "audio/recording.h"
#include "audio/vad/speech_amount.h"
#include "base/field_names.h"
#include "made_wav.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::filesystem::path outside(const std::string& name) {
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio/outside" / name;
}

Recording decoded(const std::string& name, std::int32_t track = 0) {
  auto recording = decode_recording(outside(name), {}, {}, {.track = track});
  if (!recording) throw std::runtime_error(recording.error().text());
  return std::move(*recording);
}

/// Where the first sample is that is not silence.
double first_audio(const Recording& recording) {
  const auto pcm = all_of(recording);
  const auto first = std::ranges::find_if(pcm, [](std::int16_t sample) { return std::abs(sample) > 200; });
  return static_cast<double>(first - pcm.begin()) / 16000;
}

TEST(Tracks, TheOneWithSpeechIsTakenAndReported) {
  const Recording recording = decoded("two-tracks-voice-in-2nd.mkv");
  EXPECT_GT(speech_in(recording).value(), Seconds(2));
  EXPECT_THAT(recording.notes(), Contains(AllOf(HasSubstr("audio track 2 (Mic, eng) of 2"),
                                                HasSubstr("; track N chooses among"), HasSubstr("1 (Desktop"))));
  EXPECT_THAT(recording.losses(), IsEmpty());
}

TEST(Tracks, NoiseAndTonesAreNoSpeech) {
  const Recording recording = decoded("three-tracks-voice-in-3rd.mp4");
  EXPECT_GT(speech_in(recording).value(), Seconds(2));
  EXPECT_THAT(recording.notes(), Contains(HasSubstr("audio track 3")));
}

TEST(Tracks, NamedTrackIsDecodedUnchanged) {
  const Recording first = decoded("two-tracks-voice-in-2nd.mkv", 1);
  EXPECT_THAT(all_of(first), testing::Each(0));
  EXPECT_THAT(first.notes(), Contains(HasSubstr("audio track 1 (Desktop")));
  EXPECT_EQ(all_of(decoded("two-tracks-voice-in-2nd.mkv", 2)), all_of(decoded("two-tracks-voice-in-2nd.mkv")));
}

TEST(Tracks, MissingTrackErrorNamesTheValidRange) {
  const auto third = decode_recording(outside("two-tracks-voice-in-2nd.mkv"), {}, {}, {.track = 3});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().fault, Fault::unsupported);
  EXPECT_THAT(third.error().what, HasSubstr("no audio track 3: expected track 1 to 2"));
  const auto sounds = std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio/sounds";
  const auto second = decode_recording(sounds / "streamed.wav", {}, {}, {.track = 2});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr("expected track 1, its only one"));
}

TEST(Tracks, ChildNamesFlagsWhereItsParentDoes) {
  const FieldNamesScope flags(FieldNames::flags);
  const auto third = decode_recording(outside("two-tracks-voice-in-2nd.mkv"), {}, {}, {.track = 3});
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().what, HasSubstr("no audio track 3: expected --track 1 to 2"));
  EXPECT_THAT(third.error().hint, HasSubstr("or leave --track out"));
}

TEST(Clock, AudioThatBeginsLateKeepsThePicturesClock) {
  for (const auto& [name, late] : {std::pair("sound-begins-at-4s.mkv", 4.087), std::pair("sound-begins-at-4s.mp4", 4.0),
                                   std::pair("sound-begins-at-4s.ts", 4.0)}) {
    const Recording recording = decoded(name);
    EXPECT_NEAR(recording.duration().count(), late + 5, 0.15) << name;
    ASSERT_EQ(recording.gaps().size(), 1U) << name;
    EXPECT_EQ(recording.gaps()[0].start, 0);
    EXPECT_NEAR(static_cast<double>(recording.gaps()[0].end) / 16000, late, 0.1)
        << name << ": an encoder's first frame is silence";
    EXPECT_GT(first_audio(recording), late) << name;
    EXPECT_THAT(recording.losses(), IsEmpty()) << name;
    EXPECT_THAT(recording.notes(), Contains(HasSubstr("after the picture"))) << name;
  }
}

TEST(Clock, AHoleOfSecondsIsFilledAndALoss) {
  const Recording recording = decoded("hole-of-6s.mkv");
  EXPECT_NEAR(recording.duration().count(), 11, 0.01);
  EXPECT_THAT(recording.gaps(), testing::ElementsAre(SampleRange{38400, 134400}));
  EXPECT_THAT(recording.losses(), testing::ElementsAre(HasSubstr("6.0 s of sound are missing")));
}

TEST(Clock, SmallHolesAreFilledAndTheirSumIsNoted) {
  const Recording recording = decoded("25-holes-of-80ms.mkv");
  EXPECT_NEAR(recording.duration().count(), 6.92, 0.01);
  EXPECT_EQ(recording.gaps().size(), 24U);
  EXPECT_THAT(recording.losses(), IsEmpty());
  EXPECT_THAT(recording.notes(), Contains(HasSubstr("1.92 s of sound are missing in 24 small holes")));
}

TEST(Clock, APartOfALongerOggBeginsAtZero) {
  EXPECT_NEAR(decoded("cropped-of-a-longer.ogg").duration().count(), 9, 0.02);
}

TEST(AudioLength, AreRightOrUnknownForFilesThatWereCutOrHaveNoRate) {
  for (const auto& entry : std::filesystem::directory_iterator(outside(""))) {
    const auto length = audio_length(entry.path());
    ASSERT_TRUE(length) << entry.path();
    if (!*length) continue;
    EXPECT_NEAR((*length)->count(), decoded(entry.path().filename()).duration().count(), 0.1) << entry.path();
  }
  EXPECT_EQ(audio_length(outside("cropped-of-a-longer.ogg")).value(), std::nullopt);
  EXPECT_EQ(audio_length(outside("variable-rate.mp3")).value(), std::nullopt);
}

TEST(AudioLength, AWrongByteRateDoesNotMatter) {
  const auto pcm = noise(32'000);
  for (const std::uint32_t rate : {8000U, 32000U, 1U, 0U, 0xffffffffU}) {
    const auto content = MadeWav{.bytes_per_second = rate}.of(pcm);
    MemoryBytes bytes(std::as_bytes(std::span(content)));
    EXPECT_NEAR(audio_length(bytes).value_or(Seconds(0)).count(), 2, 1e-6) << rate;
  }
}

}  // namespace
}  // namespace tutti
