#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tutti {

/// What a cached entry is known by: 128 bits of everything it depends on.
using CacheKey = std::array<std::uint64_t, 2>;

/// A digest of content and of whatever else decides the result; several GB/s, not for security.
CacheKey cache_key(std::span<const std::byte> content, std::span<const double> parameters);

/// Its 32 hexadecimal digits, for names of files and lists of digests.
std::string hex_of(const CacheKey& key);

/// 64 bits of it, which detect damaged content or another file.
inline std::uint64_t checksum(std::span<const std::byte> content) {
  return cache_key(content, {})[0];
}

}  // namespace tutti
