#include "audio/joined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/clip/clip.h"
#include "audio/containers/audio_length.h"
#include "made_wav.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::filesystem::path audio(const std::string& name) {
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio/sounds" / name;
}

class Joined : public testing::Test {
 protected:
  Result<Recording> decode(const std::string& name, const std::string& content) {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return decode_recording(folder_ / name);
  }
  std::optional<Seconds> length(const std::string& content) {
    MemoryBytes bytes(std::as_bytes(std::span(content)));
    return audio_length(bytes);
  }

  TempFolder folder_;
};

TEST_F(Joined, ConcatenatedWavFilesAreDecodedAsOne) {
  const auto first = noise(20'000), second = noise(30'001);
  const auto content = MadeWav{}.of(first) + MadeWav{}.of(second);
  const auto recording = decode("two.wav", content);
  ASSERT_TRUE(recording) << recording.error().text();
  auto expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(all_of(*recording), expected);
  EXPECT_THAT(recording->losses(), testing::IsEmpty());
  EXPECT_THAT(recording->notes(), Contains(HasSubstr("2 recordings behind one another")));
  EXPECT_NEAR(length(content)->count(), 50'001.0 / 16000, 1e-6);
}

TEST_F(Joined, OthersRatesChannelsAndChunksBetweenDoNotMatter) {
  const auto pcm = noise(16'000);
  const std::string chunk("LIST\x05\0\0\0abcde\0", 14);
  const auto content =
      MadeWav{}.of(pcm) + chunk + MadeWav{.channels = 2, .rate = 8000}.of(pcm) + chunk + MadeWav{.rate = 44100}.of(pcm);
  const auto recording = decode("three.wav", content);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_NEAR(recording->duration().count(), 2 + 16'000.0 / 44100, 0.002);
  EXPECT_NEAR(length(content)->count(), recording->duration().count(), 0.002);
}

TEST_F(Joined, StreamsThatDoNotSayTheirLengthAreSearched) {
  const auto pcm = noise(16'000);
  for (const std::uint32_t claimed : {0xffffffffU, 0U}) {
    const auto one = MadeWav{.claimed = claimed}.of(pcm);
    const auto recording = decode("streams.wav", one + one);
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_EQ(recording->samples(), 32'000) << claimed;
    EXPECT_NEAR(length(one).value_or(Seconds(0)).count(), 1, 1e-6) << claimed;
  }
}

TEST_F(Joined, UndecodablePartIsReported) {
  const auto pcm = noise(16'000);
  auto broken = MadeWav{}.of(pcm);
  broken.replace(20, 2, "\x99\x99");  // of no known kind
  const auto recording = decode("broken.wav", MadeWav{}.of(pcm) + broken);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(recording->samples(), 16'000);
  EXPECT_THAT(recording->losses(), Contains(testing::AllOf(HasSubstr("at 00:00:01.0"), HasSubstr("byte 32044"))));
  const auto headless = decode("headless.wav", MadeWav{}.of({}) + MadeWav{}.of(pcm));
  ASSERT_TRUE(headless) << headless.error().text();
  EXPECT_EQ(headless->samples(), 16'000);
}

TEST_F(Joined, EveryContainerIsDecodedOn) {
  for (const char* name : {"adpcm.wav", "lossless.m4a", "mono.opus", "stereo24.flac", "streamed.wav", "surround.flac",
                           "surround.ogg", "telephone.au", "two.mp4", "video.mkv", "windows.wma"}) {
    const std::string one = read_file(audio(name)).value();
    const auto single = decode(name, one), twice = decode(std::string("twice-") + name, one + one);
    ASSERT_TRUE(single && twice) << name << (twice ? "" : twice.error().text());
    EXPECT_NEAR(twice->duration().count(), 2 * single->duration().count(), 0.06) << name;
    const auto claimed = length(one + one);
    EXPECT_NEAR(claimed.value_or(twice->duration()).count(), twice->duration().count(), 0.1) << name;
  }
}

TEST_F(Joined, WhatProgramsPutBetweenRecordingsHidesNone) {
  const auto wav = MadeWav{}.of(noise(16'000));
  const std::string tag = "TAG" + std::string(125, 'x'), junk(400, '\x07');
  const std::string mp3 = read_file(audio("change.mp3")).value(), ogg = read_file(audio("mono.opus")).value();
  for (const std::string& between :
       {std::string(512, '\0'), std::string(5001, '\0'), tag, tag + std::string(64, '\0'), junk})
    for (const std::string& second : {wav, ogg}) {
      const auto recording = decode("tagged.wav", wav + between + second);
      ASSERT_TRUE(recording) << recording.error().text();
      EXPECT_NEAR(recording->duration().count(), 2, 0.03) << between.size();
      EXPECT_THAT(recording->losses(), testing::IsEmpty());
      EXPECT_NEAR(length(wav + between + second).value_or(Seconds(2)).count(), 2, 0.03);
    }
  const double alone = decode("alone.mp3", mp3)->duration().count();
  for (const auto& [name, content] :
       {std::pair("a.wav", wav + mp3), {"b.mp3", mp3 + wav}, {"c.mp3", mp3 + tag + wav}}) {
    const auto recording = decode(name, content);
    ASSERT_TRUE(recording) << name << recording.error().text();
    EXPECT_NEAR(recording->duration().count(), alone + 1, 0.03) << name;
    EXPECT_THAT(recording->losses(), testing::IsEmpty()) << name;
  }
}

TEST_F(Joined, ASecondChunkOfSamplesIsReportedWithItsLength) {
  const auto pcm = noise(16'000);
  const auto wav = MadeWav{}.of(pcm);
  const auto recording = decode("chunks.wav", wav + wav.substr(36));
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_THAT(recording->losses(), Contains(testing::AllOf(HasSubstr("32000 bytes"), HasSubstr("about 1.0 s"))));
}

/// A VOC file of 8-bit samples at 8 kHz.
std::string made_voc(std::size_t samples) {
  const std::string size{static_cast<char>((samples + 2) & 255), static_cast<char>((samples + 2) >> 8 & 255), 0};
  std::string voc =
      "Creative Voice File\x1a" + std::string("\x1a\0\x0a\x01\x29\x11\x01", 7) + size + "\x83" + std::string(1, '\0');
  for (std::size_t i = 0; i < samples; ++i) voc += static_cast<char>(128 + (i % 16) * 4);
  return voc + std::string(1, '\0');
}

TEST_F(Joined, VocBehindVocIsDecodedOn) {
  const auto voc = made_voc(8000);
  const auto recording = decode("two.voc", voc + voc);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_NEAR(recording->duration().count(), 2 * decode("one.voc", voc)->duration().count(), 0.01);
}

TEST_F(Joined, ItsStreamsEndWhereTheirContainersSay) {
  // TTA: two frames of 9 and 11 bytes; WavPack: one block of 32 bytes, with a tag behind it.
  const auto head = [](std::string name, std::initializer_list<int> bytes) {
    for (const int byte : bytes) name += static_cast<char>(byte);
    return name;
  };
  const std::string tta = head("TTA1", {1, 0, 1, 0, 16, 0, 0x80, 0x3e, 0, 0, 0, 0x42, 0, 0, 0,
                                        0, 0, 0, 9, 0,  0, 0,    11,   0, 0, 0, 0,    0, 0, 0}) +
                          std::string(20, 't');
  const std::string block =
      head("wvpk", {24, 0, 0, 0, 16, 4, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0});
  const std::string tag = "TAG" + std::string(125, 'x');
  for (const auto& [one, between] : {std::pair(tta, std::string()), {tta, tag}, {block, std::string()}, {block, tag}}) {
    const std::string two = one + between + one;
    MemoryBytes bytes(std::as_bytes(std::span(two)));
    const auto first = first_recording(bytes);
    EXPECT_EQ(first.next, std::ssize(one + between));
    EXPECT_EQ(first.end, one == block ? std::ssize(one) : first.next) << "FFmpeg takes tags in WavPack for damage";
  }
}

TEST_F(Joined, OneRecordingEndsWhereItsFileDoes) {
  for (const auto& entry : std::filesystem::directory_iterator(audio(""))) {
    if (entry.path().filename() == "change.ogg") continue;  // one stream behind another
    const std::string content = read_file(entry.path()).value();
    MemoryBytes bytes(std::as_bytes(std::span(content)));
    EXPECT_EQ(first_recording(bytes).next, std::ssize(content)) << entry.path();
  }
}

TEST_F(Joined, IsNoClipForTraining) {
  const auto pcm = noise(16'000);
  const auto content = MadeWav{}.of(pcm) + MadeWav{}.of(pcm);
  MemoryBytes bytes(std::as_bytes(std::span(content)));
  const auto clip = decode_clip(bytes);
  ASSERT_FALSE(clip) << "it would be silently shorter";
  EXPECT_EQ(clip.error().fault, Fault::unsupported) << "and so goes to decode_recording";
}

}  // namespace
}  // namespace tutti
