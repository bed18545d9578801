#include "audio/sound_header.h"

#include <array>
#include <cstring>
#include <string_view>

namespace tutti {
namespace {

/// `count` bytes at `offset`, or an empty view where the file has fewer. Valid until the next call.
class Peek {
 public:
  explicit Peek(ByteSource& bytes) : bytes_(bytes) {}

  std::string_view at(std::int64_t offset, std::size_t count) {
    const auto got = bytes_.read_at(offset, std::as_writable_bytes(std::span(block_)).first(count));
    return got && *got == count ? std::string_view(block_.data(), count) : std::string_view();
  }

 private:
  ByteSource& bytes_;
  std::array<char, 32> block_{};
};

std::uint64_t number(std::string_view bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

/// Walks the chunks of a WAV or AIFF file to its samples.
std::optional<SoundHeader> find_samples(ByteSource& bytes, PlainContainer container) {
  constexpr int kMostChunks = 1000;
  const bool aiff = container == PlainContainer::aiff;
  const std::string_view wanted = aiff ? "SSND" : "data";
  constexpr std::int64_t kAiffPrefix = 8;  // offset and block size stand before AIFF's samples
  Peek peek(bytes);
  std::int64_t at = 12;
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    const auto head = peek.at(at, 8);
    if (head.empty()) return {};
    const auto size = static_cast<std::int64_t>(number(head.substr(4), aiff));
    at += 8;
    if (head.substr(0, 4) != wanted) {
      at += size + size % 2;
      continue;
    }
    if (at + size > bytes.size()) return {};
    return SoundHeader{container, size - (aiff ? kAiffPrefix : 0), 0};
  }
  return {};
}

std::optional<SoundHeader> read_flac(ByteSource& bytes) {
  Peek peek(bytes);
  constexpr std::string_view kStreamInfo("\0\0\0\x22", 4);  // block type 0 of 34 bytes, perhaps the last one
  const auto block = peek.at(4, 4);
  if (block.empty() || (block[0] & 0x7f) != 0 || block.substr(1) != kStreamInfo.substr(1)) return {};
  const auto total = peek.at(kFlacTotalOffset, 5);
  if (total.empty()) return {};
  const auto frames = number(total, true) & 0xf'ffff'ffff;
  return SoundHeader{PlainContainer::flac, 0, static_cast<std::int64_t>(frames)};
}

}  // namespace

std::optional<SoundHeader> read_sound_header(ByteSource& bytes) {
  Peek peek(bytes);
  const auto head = peek.at(0, 12);
  if (head.substr(0, 4) == "fLaC") return read_flac(bytes);
  if (head.substr(0, 4) == "RIFF" && head.substr(8) == "WAVE") return find_samples(bytes, PlainContainer::wav);
  if (head.substr(0, 4) == "FORM" && head.substr(8) == "AIFF") return find_samples(bytes, PlainContainer::aiff);
  return {};
}

}  // namespace tutti
