#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "feed/options.h"

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

/// What `head_check` of a stored head must be: its checksum without itself.
template <class Head>
std::uint64_t check_of_head(Head head) requires requires {
  head.head_check;
}
{
  head.head_check = 0;
  return checksum(std::as_bytes(std::span(&head, 1)));
}

// IEEE half precision by integer arithmetic that compilers turn into vector code on any machine. Features lie between
// -2 and 4, so infinities and NaN are not provided for; what is beyond 65504 becomes that.

/// To the nearest, ties to even.
inline std::uint16_t to_half(float value) {
  constexpr float kLargest = 65504;
  value = value > kLargest ? kLargest : value < -kLargest ? -kLargest : value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Moves the exponent down by 112, which also makes the small ones subnormal, as they are in half precision.
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits & 0x7fffffffU) * 0x1p-112F);
  const std::uint32_t rounded = small + 0xfffU + ((small >> 13) & 1U);  // to the nearest, ties to even
  return static_cast<std::uint16_t>(rounded >> 13 | bits >> 31 << 15);
}

/// Exact.
inline float from_half(std::uint16_t half) {
  const std::uint32_t bits = (half & 0x7fffU) << 13;
  const float value = std::bit_cast<float>(bits) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | static_cast<std::uint32_t>(half & 0x8000U) << 16);
}

/// Fills all `stride` frames of a row from what was kept of it. `kept`: [n_mels, frames] in half precision; `silence`
/// follows them.
inline void unpack(const std::uint16_t* kept, std::int64_t frames, float silence, std::int64_t n_mels, float* out,
                   std::int64_t stride) {
  const std::int64_t shared = std::min(frames, stride);
  for (std::int64_t bin = 0; bin < n_mels; ++bin) {
    const std::uint16_t* from = kept + bin * frames;
    float* into = out + bin * stride;
    for (std::int64_t frame = 0; frame < shared; ++frame) into[frame] = from_half(from[frame]);
    std::fill(into + shared, into + stride, silence);
  }
}

/// Features of one sample as they are kept: half precision.
struct CachedFeatures {
  std::int32_t real = 0;             ///< frames of content
  std::int32_t frames = 0;           ///< columns: content and what straddles its end
  float silence = 0;                 ///< what follows them
  float lead = 0;                    ///< seconds that a cut moved the start by
  std::vector<std::uint16_t> mel{};  ///< [n_mels, frames]
};

/// Features on disk, so that an epoch costs reading instead of decoding. Packs of many entries; the oldest pack goes
/// when the folder is full. A process writes packs of its own and reads everybody's that were there when it started.
/// What is damaged counts as not there. Thread-safe.
class FeatureCache {
 public:
  static Result<std::unique_ptr<FeatureCache>> open(const FeatureCacheOptions& options);

  std::optional<CachedFeatures> find(const CacheKey& key) const;
  /// Fault::full where the disk is full; what is kept can still be found.
  Result<void> store(const CacheKey& key, const CachedFeatures& features);

  std::size_t entries() const;

 private:
  struct Pack {
    std::filesystem::path path;
    OwnedFd file;
    std::int64_t size = 0;
  };
  struct PackLocation {
    std::shared_ptr<Pack> pack;
    std::int64_t at = 0;
    std::int64_t size = 0;
  };
  struct State {
    std::map<CacheKey, PackLocation> locations{};
    std::deque<std::shared_ptr<Pack>> packs{};  // oldest first
    std::shared_ptr<Pack> open{};               // ours, being filled
    std::int64_t size = 0;
  };

  explicit FeatureCache(FeatureCacheOptions options) : options_(std::move(options)) {}
  Result<void> adopt(const std::filesystem::path& path);
  Result<std::shared_ptr<Pack>> new_pack() const;
  /// Space for an entry in the open pack, or in a new one.
  Result<PackLocation> reserve(std::int64_t size);
  /// Packs that have to go for `more` bytes; their entries are forgotten.
  static std::vector<std::shared_ptr<Pack>> evict(State& state, std::int64_t more, std::int64_t most);

  FeatureCacheOptions options_;
  Guarded<State> state_;
};

}  // namespace tutti
