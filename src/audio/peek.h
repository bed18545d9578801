#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "audio/byte_source.h"

namespace tutti {

/// Looks at a few bytes of a file here and there.
class Peek {
 public:
  explicit Peek(ByteSource& bytes) : bytes_(bytes) {}

  /// `count` (at most 32) bytes at `offset`, or an empty view where the file has fewer. Valid until the next call.
  std::string_view at(std::int64_t offset, std::size_t count) {
    if (offset < 0) return {};
    const auto got = bytes_.read_at(offset, std::as_writable_bytes(std::span(block_)).first(count));
    return got && *got == count ? std::string_view(block_.data(), count) : std::string_view();
  }

 private:
  ByteSource& bytes_;
  std::array<char, 32> block_{};
};

/// At most 8 bytes as a number.
inline std::uint64_t number(std::string_view bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

}  // namespace tutti
