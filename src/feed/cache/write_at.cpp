#include "feed/cache/write_at.h"

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

}  // namespace tutti
