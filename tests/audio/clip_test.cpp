#include "audio/clip/clip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "audio/samples.h"
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

TEST_F(Clip, DecodesOnlyTheRequestedRange) {
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

/// Counts how often it is read.
class Counted final : public ByteSource {
 public:
  explicit Counted(ByteSource& whole) : whole_(whole) {}
  std::int64_t size() const override { return whole_.size(); }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override {
    ++reads;
    return whole_.read_at(offset, out);
  }
  int reads = 0;

 private:
  ByteSource& whole_;
};

TEST_F(Clip, BufferedHeaderGivesSameFactsInTwoReads) {
  MemoryBytes memory(std::as_bytes(std::span(content_)));
  const auto plain = clip_facts(memory).value();
  Counted counted(memory);
  HeadBytes head(counted);
  const auto found = clip_facts(head).value();
  EXPECT_EQ(found.frames, plain.frames);
  EXPECT_EQ(found.rate, plain.rate);
  EXPECT_LE(counted.reads, 2);
}

TEST_F(Clip, BufferedHeaderReadsLaterBytesFromTheFile) {
  MemoryBytes memory(std::as_bytes(std::span(content_)));
  HeadBytes head(memory);
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{4090}, std::int64_t{9000}, memory.size() - 10}) {
    std::array<std::byte, 20> wanted{}, found{};
    const auto expected = memory.read_at(offset, wanted);
    EXPECT_EQ(head.read_at(offset, found).value(), expected.value()) << offset;
    EXPECT_EQ(found, wanted) << offset;
  }
}

}  // namespace
}  // namespace tutti
