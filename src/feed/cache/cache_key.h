#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

/// What a cached entry is known by: 128 bits of everything it depends on.
using CacheKey = std::array<std::uint64_t, 2>;

/// A digest of content and of whatever else decides the result; several GB/s, not for security.
CacheKey cache_key(std::span<const std::byte> content, std::span<const double> parameters);

}  // namespace tutti
