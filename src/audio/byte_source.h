#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Encoded bytes that can be read at any offset: a file, or memory. Audio decoding depends on nothing else, so both
/// (and a pipe, spooled to a file) give the same audio.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::int64_t size() const = 0;
  /// Fills as much of `out` as there is from `offset` on and returns how much; 0 only at the end.
  virtual Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) = 0;
};

/// A regular file, read by position; the descriptor stays the caller's.
class FileBytes final : public ByteSource {
 public:
  static Result<FileBytes> over(int fd);
  std::int64_t size() const override { return size_; }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override;

 private:
  FileBytes(int fd, std::int64_t size) : fd_(fd), size_(size) {}
  int fd_;
  std::int64_t size_;
};

/// Bytes in memory, not owned.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override;

 private:
  std::span<const std::byte> bytes_;
};

/// Another source, of whose beginning a few kilobytes are read at once: libraries read a header in pieces of two bytes
/// and four, a system call each.
class HeadBytes final : public ByteSource {
 public:
  explicit HeadBytes(ByteSource& whole) : whole_(whole) {}
  std::int64_t size() const override { return whole_.size(); }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override;

 private:
  ByteSource& whole_;
  std::array<std::byte, 4096> head_{};
  std::size_t held_ = 0;
  bool has_read_ = false;
};

/// A part of another source, [begin, end), as a file of its own.
class PartBytes final : public ByteSource {
 public:
  PartBytes(ByteSource& whole, std::int64_t begin, std::int64_t end) : whole_(whole), begin_(begin), end_(end) {}
  std::int64_t size() const override { return end_ - begin_; }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override;

 private:
  ByteSource& whole_;
  std::int64_t begin_, end_;
};

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
