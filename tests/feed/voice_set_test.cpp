#include "feed/voice/voice_set.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include "base/files.h"
#include "feed/voice/voice_writer.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

VoiceMelOptions small_mel() {
  auto mel = usual_voice_mel(Hertz{16000});
  mel.n_mels = 4;
  return mel;
}

/// A clip of `frames` frames, all different for each `number`.
NewVoiceClip clip_of(int number, std::size_t frames, VoicePart part = VoicePart::training) {
  NewVoiceClip clip{.speaker = number % 2, .part = part};
  for (std::size_t i = 0; i < frames; ++i) {
    clip.pitch.push_back(i % 2 == 0 ? 0.0F : static_cast<float>(100 + number));
    clip.energy.push_back(static_cast<float>(i));
    for (int bin = 0; bin < 4; ++bin) clip.mel.push_back(static_cast<float>(number) + static_cast<float>(bin));
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(frames / 2, 1); ++i) clip.symbols.push_back(number);
  clip.name = "clip " + std::to_string(number);
  clip.text = "text of " + std::to_string(number);
  return clip;
}

/// A set of `clips` clips in `folder`; every fourth is for validation.
Result<void> write_set(const std::filesystem::path& folder, int clips) {
  auto writer = VoiceSetWriter::create(folder, small_mel());
  if (!writer) return tl::unexpected<Error>(writer.error());
  for (int i = 0; i < clips; ++i) {
    const auto part = i % 4 == 3 ? VoicePart::validation : VoicePart::training;
    if (auto added = (*writer)->append(clip_of(i, static_cast<std::size_t>(5 + i), part)); !added)
      return tl::unexpected<Error>(added.error());
  }
  return (*writer)->publish(
      {.symbols = {"_", " ", "a"}, .speakers = {"ann", "bob"}, .language = "en", .kind = "letters", .label = "made up"},
      "front end");
}

}  // namespace

TEST(VoiceSet, WrittenClipsAreReadAgain) {
  const TempFolder folder;
  ASSERT_TRUE(write_set(folder / "set", 9));
  const auto set = VoiceSet::open(folder / "set");
  ASSERT_TRUE(set) << set.error().text();
  ASSERT_EQ((*set)->size(), 9);
  for (int i = 0; i < 9; ++i) {
    const auto expected = clip_of(i, static_cast<std::size_t>(5 + i));
    const auto clip = (*set)->clip(i);
    EXPECT_EQ(clip.frames, 5 + i);
    EXPECT_EQ(clip.speaker, i % 2);
    EXPECT_EQ(clip.name, expected.name);
    EXPECT_EQ(clip.text, expected.text);
    EXPECT_TRUE(std::ranges::equal(clip.symbols, expected.symbols));
    EXPECT_TRUE(std::ranges::equal(clip.mel, expected.mel));
    EXPECT_TRUE(std::ranges::equal(clip.pitch, expected.pitch));
    EXPECT_TRUE(std::ranges::equal(clip.energy, expected.energy));
    EXPECT_EQ((*set)->frames(i), 5 + i);
    EXPECT_EQ((*set)->symbols(i), std::ssize(expected.symbols));
  }
  EXPECT_EQ(std::ssize((*set)->part(VoicePart::validation)), 2);
  EXPECT_EQ((*set)->part(VoicePart::validation).front(), 3);
  EXPECT_EQ(std::ssize((*set)->part(VoicePart::training)), 7);
  EXPECT_EQ((*set)->front_end(), "front end");
  EXPECT_EQ((*set)->format().speakers, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ((*set)->format().mel.hop, 200);
  EXPECT_FALSE(is_there(folder / "set" / kHalfVoiceSetFile));
}

TEST(VoiceSet, MeansAreThoseOfTheTrainingFrames) {
  const TempFolder folder;
  auto writer = VoiceSetWriter::create(folder / "set", small_mel());
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->append(clip_of(1, 10)));
  ASSERT_TRUE((*writer)->append(clip_of(3, 10)));
  ASSERT_TRUE((*writer)->append(clip_of(900, 10, VoicePart::validation)));
  ASSERT_TRUE((*writer)->publish({}, ""));
  const auto set = VoiceSet::open(folder / "set");
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ((*set)->size(), 3);
  EXPECT_EQ((*set)->format().mean, (std::vector<float>{2, 3, 4, 5}));
  EXPECT_FLOAT_EQ((*set)->format().deviation, 1);  // 1 and 3 around 2
  EXPECT_NEAR((*set)->format().pitch_mean, (std::log(101.0) + std::log(103.0)) / 2, 1e-9);
}

TEST(VoiceSet, DamageIsFoundWhenItIsOpened) {
  const TempFolder folder;
  ASSERT_TRUE(write_set(folder / "set", 3));
  const auto whole = read_file(folder / "set" / kVoiceSetFile);
  ASSERT_TRUE(whole);
  int found = 0, tried = 0;
  for (std::size_t at = 0; at < whole->size(); at += 37) {
    auto damaged = *whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    ASSERT_TRUE(write_file_atomically(folder / "other.set", damaged));
    const auto set = VoiceSet::open(folder / "other.set");
    found += !set && set.error().fault == Fault::corrupt;
    ++tried;
  }
  EXPECT_GT(found, tried * 6 / 10);  // the rest is between the records, where nothing is read
  for (const std::size_t size : {0UL, 20UL, 100UL, whole->size() - 1}) {
    ASSERT_TRUE(write_file_atomically(folder / "other.set", whole->substr(0, size)));
    EXPECT_FALSE(VoiceSet::open(folder / "other.set")) << size;
  }
  const auto missing = VoiceSet::open(folder / "nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, Fault::missing);
}

TEST(VoiceSet, KilledWriterLeavesTheOldSet) {
  const TempFolder folder;
  ASSERT_TRUE(write_set(folder / "set", 2));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto writer = VoiceSetWriter::create(folder / "set", small_mel());
    if (writer) (void)(*writer)->append(clip_of(7, 50));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(is_there(folder / "set" / kHalfVoiceSetFile));
  const auto old = VoiceSet::open(folder / "set");
  ASSERT_TRUE(old) << old.error().text();
  EXPECT_EQ((*old)->size(), 2);
  ASSERT_TRUE(write_set(folder / "set", 5));
  const auto renewed = VoiceSet::open(folder / "set");
  ASSERT_TRUE(renewed) << renewed.error().text();
  EXPECT_EQ((*renewed)->size(), 5);
}

TEST(VoiceSet, SecondWriterIntoTheFolderIsRefused) {
  const TempFolder folder;
  const auto first = VoiceSetWriter::create(folder / "set", small_mel());
  ASSERT_TRUE(first);
  const auto second = VoiceSetWriter::create(folder / "set", small_mel());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, Fault::refused);
}

TEST(VoiceSet, ClipThatCannotBeAlignedIsNoClip) {
  const TempFolder folder;
  const auto writer = VoiceSetWriter::create(folder / "set", small_mel());
  ASSERT_TRUE(writer);
  auto clip = clip_of(1, 3);
  clip.symbols.assign(4, 1);
  EXPECT_THROW((void)(*writer)->append(clip), std::invalid_argument);
  EXPECT_THROW((void)(*writer)->append({}), std::invalid_argument);
}
