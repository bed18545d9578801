#include "audio/containers/audio_length.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "audio/clip/clip.h"
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

TEST(AudioLength, HeadersAgreeWithDecodingForEveryKindOfFile) {
  TUTTI_NEEDS("formats/sonnet");
  const fs::path folder = test_data() / "formats/sonnet";
  int reported = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto expected = decoded_length(entry.path());
    if (!expected) continue;
    const auto length = audio_length(entry.path());
    ASSERT_TRUE(length) << entry.path();
    if (!*length) continue;
    ++reported;
    EXPECT_NEAR((*length)->count(), *expected, 0.1) << entry.path();
  }
  EXPECT_GE(reported, fs::exists(shared_data() / "formats/sonnet") ? 7 : 5);  // all but raw AAC, which has no header
}

TEST(AudioLength, EveryWidthOfPlainSamplesIsRead) {
  TUTTI_NEEDS("formats/widths");
  const fs::path folder = test_data() / "formats/widths";
  int reported = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto length = audio_length(entry.path());
    const auto expected = decoded_length(entry.path());
    if (!length || !*length || !expected) continue;
    ++reported;
    EXPECT_NEAR((*length)->count(), *expected, 0.01) << entry.path();
  }
  EXPECT_GT(reported, 10);
}

TEST(AudioLength, UnknownFilesHaveNoLength) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a.txt", "just some words, and no sound in them at all"));
  EXPECT_EQ(audio_length(folder / "a.txt").value(), std::nullopt);
  ASSERT_TRUE(write_file_atomically(folder / "b", ""));
  EXPECT_EQ(audio_length(folder / "b").value(), std::nullopt);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(audio_length(folder / "pipe").value_or(std::nullopt), std::nullopt) << "and the open does not block";
  EXPECT_EQ(audio_length(folder / "none").error().fault, Fault::missing);
}

TEST(AudioLength, HeaderBeyondItsParentElementGivesNoLength) {
  // EBML head; a segment of unknown size; an Info of 7 + 3 bytes: a Duration, and the id alone of a scale. The scale's
  // size, of unknown length, is behind the Info's end.
  const std::vector<unsigned char> file{0x1a, 0x45, 0xdf, 0xa3, 0x80,                          //
                                        0x18, 0x53, 0x80, 0x67, 0xff,                          //
                                        0x15, 0x49, 0xa9, 0x66, 0x8a,                          //
                                        0x44, 0x89, 0x84, 0x42, 0x00, 0x00, 0x00,              //
                                        0x2a, 0xd7, 0xb1,                                      //
                                        0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00,  //
                                        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  MemoryBytes bytes(std::as_bytes(std::span(file)));
  const auto length = audio_length(bytes);
  ASSERT_TRUE(length);
  EXPECT_NEAR(length->count(), 32 * 1e6 / 1e9, 1e-9);  // as without a scale
}

std::string made_audio(const std::string& name) {
  return read_file(fs::path(TUTTI_SOURCE_DIR) / "tests/data/audio/sounds" / name).value();
}

std::optional<Seconds> length_in_memory(const std::string& content) {
  MemoryBytes bytes(std::as_bytes(std::span(content)));
  return audio_length(bytes);
}

TEST(AudioLength, OfOneTrackBesideAPictureIsUnknown) {
  EXPECT_EQ(length_in_memory(made_audio("video.mkv")), std::nullopt) << "the length in its header may be the picture's";
}

TEST(AudioLength, OfOggEndsWithItsLastWholePageAndItsFirstStream) {
  const std::string whole = made_audio("mono.opus"), other = made_audio("change.ogg");
  const auto length = length_in_memory(whole);
  ASSERT_TRUE(length);
  const auto last = whole.rfind("OggS");
  const auto cut = length_in_memory(whole.substr(0, whole.size() - 10)),
             without = length_in_memory(whole.substr(0, last));
  EXPECT_EQ(cut, without) << "a page that is not all there is not decoded";
  EXPECT_LT(cut.value_or(Seconds(0)), *length);
  EXPECT_EQ(length_in_memory(whole + other), std::nullopt) << "the streams have other serial numbers";
  EXPECT_EQ(length_in_memory(made_audio("../outside/cut-of-a-longer.opus")), std::nullopt);
}

/// MPEG 2 layer III at 16 kHz and 32 kbit/s: `frames` of 144 bytes and 36 ms, the first of which counts `counted`.
std::string made_mp3(int frames, unsigned counted) {
  const auto number_of = [](unsigned value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
                       static_cast<char>(value)};
  };
  const std::string head = "\xff\xf3\x48\xc0";
  std::string first = head + std::string(9, '\0') + "Info" + number_of(3) + number_of(counted) +
                      number_of(static_cast<unsigned>(frames + 1) * 144);
  first.resize(144);
  std::string mp3 = first;
  for (int i = 0; i < frames; ++i) mp3 += head + std::string(140, '\0');
  return mp3;
}

TEST(AudioLength, OfMp3WithAWrongCountIsThatOfItsFrames) {
  for (const unsigned counted : {100U, 40U, 100'000U}) {
    const std::string mp3 = made_mp3(100, counted);
    EXPECT_NEAR(length_in_memory(mp3).value_or(Seconds(0)).count(), 3.6, 0.01) << counted;
    const TempFolder folder;
    ASSERT_TRUE(write_file_atomically(folder / "a.mp3", mp3));
    const auto recording = decode_recording(folder / "a.mp3");
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_NEAR(recording->duration().count(), 3.6, 0.1) << counted;
    EXPECT_EQ(recording->losses(), std::vector<std::string>()) << counted;
    MemoryBytes bytes(std::as_bytes(std::span(mp3)));
    EXPECT_EQ(decode_clip(bytes).has_value(), counted == 100) << "libsndfile stops at the count";
  }
}

TEST(AudioLength, NoDamagedFileIsTooMuchForIt) {
  TUTTI_NEEDS("damaged");
  const fs::path folder = test_data() / "damaged";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto content = read_file(entry.path()).value();
    for (std::size_t cut = 0; cut < std::min<std::size_t>(content.size(), 200); ++cut) {
      MemoryBytes bytes(std::as_bytes(std::span(content)).first(cut));
      const auto length = audio_length(bytes);
      EXPECT_GT(length.value_or(Seconds(1)).count(), 0);
    }
  }
}

}  // namespace
}  // namespace tutti
