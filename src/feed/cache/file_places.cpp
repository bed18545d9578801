#include "feed/cache/file_places.h"

#include <unistd.h>

#include <cerrno>

namespace tutti {

bool write_at(int file, std::span<const std::byte> bytes, std::int64_t at) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    at += put;
  }
  return true;
}

bool read_at(int file, std::span<std::byte> bytes, std::int64_t at) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    at += got;
  }
  return true;
}

}  // namespace tutti
