#include "serve/openai/live_upload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/files.h"

namespace tutti {
namespace {

constexpr int kBytesASecond = 32000;

/// The header of a stream's WAV: 16 kHz, 16 bits, one channel.
std::string header() {
  using namespace std::string_literals;
  return "RIFF\xFF\xFF\xFF\xFFWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3E\0\0\0\x7D\0\0\x02\0\x10\0data\xFF\xFF\xFF\xFF"s;
}

Upload upload_of(const std::string& content) {
  auto file = open_unnamed_file();
  EXPECT_TRUE(file && ::write(file->get(), content.data(), content.size()) == std::ssize(content));
  return {.file = std::move(*file), .name = "live.wav", .size = content.size()};
}

Upload wav_of(double seconds) {
  return upload_of(header() + std::string(static_cast<std::size_t>(seconds * kBytesASecond), '\0'));
}

bool is_live(const Upload& upload, double seconds) {
  return UploadRate().is_live(upload, Seconds(seconds));
}

TEST(UploadRate, WavThatComesAsItIsSpokenIsLive) {
  EXPECT_TRUE(is_live(wav_of(1.5), 1.5));
  EXPECT_TRUE(is_live(wav_of(2.9), 1.5)) << "a source may be a little ahead";
}

TEST(UploadRate, FileThatComesFasterIsNotLive) {
  EXPECT_FALSE(is_live(wav_of(20), 1.5));
}

TEST(UploadRate, NothingIsLiveWithinTheFirstSecond) {
  EXPECT_FALSE(is_live(wav_of(0.5), 0.5)) << "a short file may be complete by then";
}

TEST(UploadRate, OtherFormatsAreNotLive) {
  EXPECT_FALSE(is_live(upload_of("ID3" + std::string(8000, 'x')), 1.5));
  EXPECT_FALSE(is_live(upload_of(""), 1.5));
}

TEST(UploadRate, HeaderThatIsNotCompleteIsReadLater) {
  UploadRate rate;
  Upload upload = upload_of(header().substr(0, 20));
  EXPECT_FALSE(rate.is_live(upload, Seconds(1.5)));
  const std::string rest = header().substr(20) + std::string(kBytesASecond, '\0');
  ASSERT_EQ(::write(upload.file.get(), rest.data(), rest.size()), std::ssize(rest));
  upload.size += rest.size();
  EXPECT_TRUE(rate.is_live(upload, Seconds(2)));
}

}  // namespace
}  // namespace tutti
