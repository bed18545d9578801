// What a set that is being built keeps on disk.

#include "feed/labelled/feature_spool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "feed/labelled/labelled_set.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

std::vector<std::uint16_t> features(std::uint16_t value) {
  return std::vector<std::uint16_t>(static_cast<std::size_t>(leak_geometry().values()), value);
}

CacheKey identity(std::uint64_t number) {
  return {number, ~number};
}

SpooledClip clip(std::uint64_t number) {
  return {.content = {number, 1}, .checksum = number, .is_cut = number % 2 == 1, .is_padded = number % 3 == 1};
}

/// A spool with clips 1 to 3, closed again.
void write_three(const std::filesystem::path& path) {
  const auto spool = FeatureSpool::open(path, leak_geometry());
  ASSERT_TRUE(spool) << spool.error().text();
  for (std::uint16_t number = 1; number <= 3; ++number) {
    auto one = clip(number);
    ASSERT_TRUE((*spool)->append(identity(number), one, features(number)));
    EXPECT_EQ(one.record, number - 1);
  }
}

}  // namespace

TEST(FeatureSpool, ClipsOfAnInterruptedBuildAreFoundAgain) {
  const TempFolder folder;
  write_three(folder / "features.part");
  const auto spool = FeatureSpool::open(folder / "features.part", leak_geometry());
  ASSERT_TRUE(spool);
  auto more = clip(4);
  ASSERT_TRUE((*spool)->append(identity(4), more, features(4)));
  ASSERT_TRUE((*spool)->finish());
  for (std::uint16_t number = 1; number <= 3; ++number) {
    const auto found = (*spool)->find(identity(number));
    ASSERT_TRUE(found) << number;
    EXPECT_EQ(found->content, clip(number).content);
    EXPECT_EQ(found->checksum, number);
    EXPECT_EQ(found->is_cut, clip(number).is_cut);
    EXPECT_EQ(found->is_padded, clip(number).is_padded);
    EXPECT_EQ((*spool)->mel(*found)[7], number);
  }
  EXPECT_EQ((*spool)->mel(more)[0], 4);
  EXPECT_FALSE((*spool)->find(identity(5)));
}

TEST(FeatureSpool, DamagedAndHalfRecordsCountAsAbsent) {
  const TempFolder folder;
  const auto path = folder / "features.part";
  write_three(path);
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));  // within the second record
    file.write("damage", 6);
  }
  std::filesystem::resize_file(path, size - 10);
  const auto spool = FeatureSpool::open(path, leak_geometry());
  ASSERT_TRUE(spool);
  EXPECT_TRUE((*spool)->find(identity(1)));
  EXPECT_FALSE((*spool)->find(identity(2)));
  EXPECT_FALSE((*spool)->find(identity(3)));
}

TEST(FeatureSpool, AnotherGeometryEmptiesIt) {
  const TempFolder folder;
  write_three(folder / "features.part");
  const auto spool = FeatureSpool::open(folder / "features.part", overlapping_leak_geometry());
  ASSERT_TRUE(spool);
  EXPECT_FALSE((*spool)->find(identity(1)));
}

TEST(FeatureSpool, WaveformsAreKeptBesideFeatures) {
  const TempFolder folder;
  const std::vector<float> waveform(static_cast<std::size_t>(leak_geometry().waveform_values()), 0.25F);
  {
    const auto spool = FeatureSpool::open(folder / "features.part", leak_geometry(), true);
    ASSERT_TRUE(spool);
    for (std::uint16_t number = 1; number <= 2; ++number) {
      auto one = clip(number);
      one.waveform_checksum = 7;
      ASSERT_TRUE((*spool)->append(identity(number), one, features(number), waveform));
    }
  }
  {
    const auto spool = FeatureSpool::open(folder / "features.part", leak_geometry(), true);
    ASSERT_TRUE(spool && (*spool)->finish());
    const auto found = (*spool)->find(identity(2));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->waveform_checksum, 7);
    EXPECT_EQ((*spool)->mel(*found)[7], 2);
    EXPECT_TRUE(std::ranges::equal((*spool)->waveform(*found), waveform));
  }
  const auto without = FeatureSpool::open(folder / "features.part", leak_geometry());
  ASSERT_TRUE(without);
  EXPECT_FALSE((*without)->find(identity(2))) << "a spool with waveforms has other records";
}

TEST(FeatureSpool, TwoBuildersOfOneSetAreRefused) {
  const TempFolder folder;
  const auto first = FeatureSpool::open(folder / "features.part", leak_geometry());
  ASSERT_TRUE(first);
  const auto second = FeatureSpool::open(folder / "features.part", leak_geometry());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, Fault::usage);
}

TEST(FeatureSpool, ChangedFilesHaveAnotherIdentity) {
  const TempFolder folder;
  const auto path = folder / "clip.wav";
  std::ofstream(path) << "one";
  const auto before = FeatureSpool::identity_of("clip.wav", path).value();
  EXPECT_EQ(FeatureSpool::identity_of("clip.wav", path).value(), before);
  EXPECT_NE(FeatureSpool::identity_of("other.wav", path).value(), before);
  std::ofstream(path) << "longer";
  EXPECT_NE(FeatureSpool::identity_of("clip.wav", path).value(), before);
}

/// As archives do it that give all files one time.
TEST(FeatureSpool, ReplacedFileOfTheSameSizeAndTimeDiffers) {
  const TempFolder folder;
  const auto path = folder / "clip.wav", other = folder / "other.wav";
  std::ofstream(path) << "one";
  std::ofstream(other) << "two";
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(path));
  const auto before = FeatureSpool::identity_of("clip.wav", path).value();
  std::filesystem::rename(other, path);
  EXPECT_NE(FeatureSpool::identity_of("clip.wav", path).value(), before);
}
