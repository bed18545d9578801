#include "audio/length/sound_length.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "audio/recording.h"
#include "base/files.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// What decoding gives, or nothing for a file that cannot be decoded.
std::optional<double> decoded_length(const fs::path& path) {
  const auto recording = decode_recording(path);
  if (!recording) return {};
  return recording->duration().count();
}

TEST(SoundLength, HeadersAgreeWithDecodingForEveryKindOfFile) {
  TUTTI_NEEDS("formats/sonnet");
  const fs::path folder = test_data() / "formats/sonnet";
  int told = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto expected = decoded_length(entry.path());
    if (!expected) continue;
    const auto length = sound_length(entry.path());
    ASSERT_TRUE(length) << entry.path();
    if (!*length) continue;
    ++told;
    EXPECT_NEAR((*length)->count(), *expected, 0.1) << entry.path();
  }
  EXPECT_GE(told, fs::exists(shared_data() / "formats/sonnet") ? 7 : 5);  // all but raw AAC, which has no header
}

TEST(SoundLength, EveryWidthOfPlainSamplesIsRead) {
  TUTTI_NEEDS("formats/widths");
  const fs::path folder = test_data() / "formats/widths";
  int told = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto length = sound_length(entry.path());
    const auto expected = decoded_length(entry.path());
    if (!length || !*length || !expected) continue;
    ++told;
    EXPECT_NEAR((*length)->count(), *expected, 0.01) << entry.path();
  }
  EXPECT_GT(told, 10);
}

TEST(SoundLength, SaysNothingOfWhatItDoesNotKnow) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a.txt", "just some words, and no sound in them at all"));
  EXPECT_EQ(sound_length(folder / "a.txt").value(), std::nullopt);
  ASSERT_TRUE(write_file_atomically(folder / "b", ""));
  EXPECT_EQ(sound_length(folder / "b").value(), std::nullopt);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(sound_length(folder / "pipe").value_or(std::nullopt), std::nullopt) << "and nobody waits for its other end";
  EXPECT_EQ(sound_length(folder / "none").error().fault, Fault::missing);
}

TEST(SoundLength, AnElementWhoseHeaderReachesBeyondItsParentSaysNothing) {
  // EBML head; a segment of unknown size; an Info of 7 + 3 bytes: a Duration, and the id alone of a scale whose size,
  // of unknown length, stands behind the Info's end.
  const std::vector<unsigned char> file{0x1a, 0x45, 0xdf, 0xa3, 0x80,                          //
                                        0x18, 0x53, 0x80, 0x67, 0xff,                          //
                                        0x15, 0x49, 0xa9, 0x66, 0x8a,                          //
                                        0x44, 0x89, 0x84, 0x42, 0x00, 0x00, 0x00,              //
                                        0x2a, 0xd7, 0xb1,                                      //
                                        0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00,  //
                                        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  MemoryBytes bytes(std::as_bytes(std::span(file)));
  const auto length = sound_length(bytes);
  ASSERT_TRUE(length);
  EXPECT_NEAR(length->count(), 32 * 1e6 / 1e9, 1e-9);  // as without a scale
}

TEST(SoundLength, NoDamagedFileIsTooMuchForIt) {
  TUTTI_NEEDS("damaged");
  const fs::path folder = test_data() / "damaged";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto content = read_file(entry.path()).value();
    for (std::size_t cut = 0; cut < std::min<std::size_t>(content.size(), 200); ++cut) {
      MemoryBytes bytes(std::as_bytes(std::span(content)).first(cut));
      const auto length = sound_length(bytes);
      EXPECT_GT(length.value_or(Seconds(1)).count(), 0);
    }
  }
}

}  // namespace
}  // namespace tutti
