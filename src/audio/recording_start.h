#pragma once

#include <cstdint>
#include <string_view>

#include "audio/byte_source.h"

namespace tutti {

/// Another source, read in blocks of which the last is kept: walks over headers would cost a system call each.
class BlockBytes final : public ByteSource {
 public:
  explicit BlockBytes(ByteSource& whole) : whole_(whole) {}
  std::int64_t size() const override { return whole_.size(); }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override;

 private:
  ByteSource& whole_;
  std::array<std::byte, 1 << 14> block_{};
  std::int64_t begin_ = 0;
  std::size_t held_ = 0;
};

/// Whether a recording begins at `at`, whatever its container. Frames of MP3 count where several follow one another.
bool recording_begins(ByteSource& bytes, std::int64_t at);

/// Where the next recording begins, from `from` on; the file's size where none does. MP3 is not searched for: what its
/// frames begin with is found in any audio.
std::int64_t find_recording(ByteSource& bytes, std::int64_t from);

/// Behind the zeros and the tags (ID3v1, ID3v2, APE) that programs append to a recording, from `at` on.
std::int64_t behind_tags(ByteSource& bytes, std::int64_t at);

}  // namespace tutti
