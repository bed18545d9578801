#include "audio/ffmpeg/aac.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "audio/ffmpeg/api.h"

using namespace tutti;

namespace {

std::vector<std::int16_t> tone(std::size_t samples) {
  std::vector<std::int16_t> pcm;
  for (std::size_t i = 0; i < samples; ++i)
    pcm.push_back(
        static_cast<std::int16_t>(8000 * std::sin(2 * std::numbers::pi * 440 * static_cast<double>(i) / 22050)));
  return pcm;
}

}  // namespace

TEST(Aac, BytesAreAdtsFramesOfAllSamples) {
  if (!FfmpegApi::load()) GTEST_SKIP() << "FFmpeg's libraries are not installed";
  const auto bytes = aac_bytes(tone(22050), Hertz{22050});
  ASSERT_TRUE(bytes) << bytes.error().text();
  std::size_t frames = 0;
  for (std::size_t at = 0; at + 7 <= bytes->size(); ++frames) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>((*bytes)[at + i]); };
    ASSERT_EQ(byte(0), 0xFF) << "frame " << frames;
    ASSERT_EQ(byte(1) & 0xF6, 0xF0) << "frame " << frames;
    at += (byte(3) & 3U) << 11U | static_cast<unsigned>(byte(4)) << 3U | byte(5) >> 5U;
  }
  EXPECT_GE(frames * 1024, 22050U);
  EXPECT_LE(frames * 1024, 22050U + 4 * 1024);
  EXPECT_LT(bytes->size(), 16000U) << "64 kbit/s";
}

TEST(Aac, RateThatItDoesNotHaveIsNamed) {
  const auto bytes = aac_bytes(tone(100), Hertz{12345});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().fault, Fault::unsupported);
  EXPECT_NE(bytes.error().text().find("12345"), std::string::npos);
}
