#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace tutti {

/// Encoded bytes that can be read at any place: a file, or memory. Decoding depends on nothing else, so both (and a
/// pipe, spooled to a file) give the same sound.
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

}  // namespace tutti
