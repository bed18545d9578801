#include "feed/cache/cache_key.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/random/counter_random.h"

namespace tutti {

CacheKey cache_key(std::span<const std::byte> content, std::span<const double> parameters) {
  // Four chains side by side: one alone would wait for its multiplication.
  constexpr std::size_t kLanes = 4, kBlock = kLanes * sizeof(std::uint64_t);
  constexpr std::uint64_t kMultiplier = 0x9ddfea08eb382d69U;
  std::array<std::uint64_t, kLanes> lanes{1, 2, 3, 4};
  std::size_t at = 0;
  const auto take = [&](std::span<const std::byte, kBlock> block) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + lane * sizeof word, sizeof word);
      lanes[lane] = std::rotl((lanes[lane] ^ word) * kMultiplier, 29);
    }
  };
  for (; at + kBlock <= content.size(); at += kBlock) take(content.subspan(at).first<kBlock>());
  std::array<std::byte, kBlock> rest{};
  std::copy(content.begin() + static_cast<std::ptrdiff_t>(at), content.end(), rest.begin());
  take(rest);
  std::uint64_t more = 0;
  for (const double parameter : parameters) more = mixed({more, std::bit_cast<std::uint64_t>(parameter)});
  return {mixed({lanes[0], lanes[1], lanes[2], lanes[3], content.size(), more}),
          mixed({lanes[3], lanes[2], lanes[1], lanes[0], ~more, content.size()})};
}

std::string hex_of(const CacheKey& key) {
  char hex[40];
  std::snprintf(hex, sizeof hex, "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
  return hex;
}

}  // namespace tutti
