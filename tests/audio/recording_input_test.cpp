#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <numbers>

#include "audio/recording.h"
#include "base/new_file.h"
#include "public/tutti/recording.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

std::vector<std::int16_t> tone() {
  std::vector<std::int16_t> pcm(8000);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(
        std::lround(30000 * std::sin(2 * std::numbers::pi * 220 * static_cast<double>(i) / 16000)));
  return pcm;
}

std::vector<std::int16_t> decoded(const RecordingInput& input) {
  const auto recording = decode_recording(path_of_descriptor(input.file().get()));
  EXPECT_TRUE(recording) << recording.error().text();
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(recording->samples()));
  EXPECT_TRUE(recording->read(0, pcm));
  return pcm;
}

TEST(RecordingInput, FloatsOfSixteenBitsAreTheSameBitsAgain) {
  const auto pcm = tone();
  std::vector<float> floats;
  for (const auto sample : pcm) floats.push_back(static_cast<float>(sample) / 32768);
  const auto input = RecordingInput::of_samples(floats);
  ASSERT_TRUE(input) << input.error().text();
  EXPECT_EQ(decoded(*input), pcm);
  EXPECT_EQ(decoded(*input), pcm) << "reading moves no position";
}

TEST(RecordingInput, OtherRateIsResampled) {
  const auto input = RecordingInput::of_samples(tone(), Hertz{8000}, "half as fast");
  ASSERT_TRUE(input) << input.error().text();
  EXPECT_EQ(input->name(), "half as fast");
  EXPECT_NEAR(static_cast<double>(decoded(*input).size()), 16000, 2);
}

TEST(RecordingInput, LouderSamplesAreClipped) {
  const std::vector<float> loud{1.5F, -1.5F, 0};
  EXPECT_EQ(decoded(RecordingInput::of_samples(loud).value()), (std::vector<std::int16_t>{32767, -32768, 0}));
}

TEST(RecordingInput, NothingAndNoNumbersAreRefused) {
  const auto empty = RecordingInput::of_samples(std::span<const float>());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().fault, Fault::usage);
  EXPECT_THAT(empty.error().what, HasSubstr("found 0 at 16000 Hz"));
  const std::vector<float> odd{0, std::nanf("")};
  const auto refused = RecordingInput::of_samples(odd, kModelRate, "the clip");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("the clip: expected samples of -1 to 1, found sample 1"));
}

TEST(RecordingInput, FileIsOpenedAtOnceAndPipesAndFoldersAreRefused) {
  const TempFolder folder;
  const auto missing = RecordingInput::of_file(folder / "none.wav");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, Fault::missing);
  EXPECT_THAT(RecordingInput::of_file(folder.path()).error().what, HasSubstr("found a folder"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(RecordingInput::of_file(folder / "pipe").error().what, HasSubstr("found a pipe"));
}

}  // namespace
}  // namespace tutti
