#include "audio/clip/clip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/sounds.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// A file of one second.
class Clip : public testing::Test {
 protected:
  Result<NativeClip> decode(const ClipRange& range) const {
    MemoryBytes bytes(std::as_bytes(std::span(content_)));
    return decode_clip(bytes, range);
  }

  TempFolder folder_;
  std::string content_ = *read_file(write_wav(folder_ / "one.wav", noise(16000)));
};

TEST_F(Clip, IsThePartAskedFor) {
  const auto part = decode({.start = Seconds(0.25), .end = Seconds(0.75)});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->facts.frames, 8000);
}

TEST_F(Clip, MayEndARoundedTimeBeforeItsRange) {
  const auto part = decode({.start = Seconds(0.5), .end = Seconds(1.05)});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->facts.frames, 8000);
  EXPECT_TRUE(decode({.end = Seconds(1.5), .slack = Seconds(0.5)}));
}

TEST_F(Clip, IsNeverSilentlyShorterThanItsRange) {
  const auto part = decode({.start = Seconds(0.5), .end = Seconds(25)});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().fault, Fault::corrupt);
  EXPECT_THAT(part.error().what, testing::AllOf(testing::HasSubstr("1.00"), testing::HasSubstr("25.00")));
}

}  // namespace
}  // namespace tutti
