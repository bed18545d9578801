#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <thread>

#include "audio/recording.h"
#include "samples.h"
#include "support/test_data.h"

using namespace tutti;
namespace fs = std::filesystem;

namespace {

/// FNV-1a over the bytes, as tools/golden/pcm.py computes it.
std::uint64_t checksum(std::span<const std::int16_t> pcm) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const std::byte byte : std::as_bytes(pcm))
    value = (value ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return value;
}

/// One line of a table made by tools/golden/pcm.py: what the ffmpeg program makes of a file.
struct Expected {
  std::int64_t samples = 0;
  std::uint64_t checksum = 0;
  std::string state{};  // "clean", or "damaged" where ffmpeg complained
  std::string path{};
};

fs::path golden(const std::string& name) {
  return fs::path(TUTTI_SOURCE_DIR) / "tests/data/audio" / name;
}

std::vector<Expected> results_in(const fs::path& table) {
  std::ifstream lines(table);
  std::vector<Expected> all;
  for (Expected one; lines >> one.samples >> std::hex >> one.checksum >> std::dec >> one.state >> std::ws &&
                     std::getline(lines, one.path);)
    all.push_back(one);
  return all;
}

void expect_same(const Expected& expected, const fs::path& file) {
  const auto recording = decode_recording(file);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(recording->samples(), expected.samples) << expected.path;
  EXPECT_EQ(checksum(all_of(*recording)), expected.checksum) << expected.path;
  EXPECT_EQ(recording->losses().empty(), expected.state == "clean")
      << expected.path << ": " << testing::PrintToString(recording->losses());
}

}  // namespace

TEST(Decode, GivesTheSamplesOfTheFfmpegProgramBitForBit) {
  TUTTI_NEEDS("formats/sonnet");
  const auto all = results_in(golden("pcm.txt"));
  ASSERT_GT(all.size(), 40U);
  std::size_t compared = 0;
  for (const Expected& expected : all) {
    const fs::path file = test_data() / expected.path;
    if (!fs::exists(file)) continue;  // the project's own copy of the data is smaller
    expect_same(expected, file);
    ++compared;
  }
  EXPECT_GE(compared, fs::exists(shared_data()) ? all.size() : 17U);
}

TEST(Decode, MatchesFfmpegOnSurroundVideoTracksAndFormatChanges) {
  const auto all = results_in(golden("sounds.txt"));
  ASSERT_EQ(all.size(), 15U);
  for (const Expected& expected : all) expect_same(expected, golden("sounds") / expected.path);
}

TEST(Decode, ManyThreadsMayDecodeAtOnce) {
  const auto expected = all_of(decode_recording(golden("sounds/mono.opus")).value());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto recording = decode_recording(golden("sounds/mono.opus"));
      EXPECT_TRUE(recording && all_of(*recording) == expected);
    });
}
