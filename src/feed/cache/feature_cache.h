#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "feed/cache/cache_key.h"
#include "feed/options.h"

namespace tutti {

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
  Result<void> take_up(const std::filesystem::path& path);
  Result<std::shared_ptr<Pack>> new_pack() const;
  /// Space for an entry in the open pack, or in a new one.
  Result<PackLocation> reserve(std::int64_t size);
  /// Packs that have to go for `more` bytes; their entries are forgotten.
  static std::vector<std::shared_ptr<Pack>> evict(State& state, std::int64_t more, std::int64_t most);

  FeatureCacheOptions options_;
  Guarded<State> state_;
};

}  // namespace tutti
