#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "audio/augment/augmentation.h"
#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "feed/feature_cache.h"
#include "feed/options.h"
#include "feed/packed/pack_format.h"
#include "feed/packed/sample_facts.h"
#include "feed/prepared_set.h"
#include "feed/source/dataset.h"

namespace tutti {

/// All samples of a set, each by its number: features in half precision, and what is known of it. One file that
/// appeared whole (pack_set.h), mapped or copied to memory. Immutable; thread-safe.
class PackedSet {
 public:
  /// Maps the file and holds every record against its digest, on `threads` threads. Fault::missing where there is none,
  /// Fault::corrupt for a damaged one, or one that is not `key`'s.
  static Result<std::shared_ptr<PackedSet>> open(const std::filesystem::path& path, const CacheKey& key, int threads);

  /// Copies all of it to memory of the process's own, and closes the mapping. Before others use it. Fault::exhausted
  /// where the process gets no such memory: it is mapped then as before.
  Result<void> move_to_memory(int threads);

  std::int64_t n_mels() const { return head_.n_mels; }
  std::int64_t lines() const { return head_.lines; }
  /// Samples, bad ones included.
  std::int64_t entries() const { return head_.entries; }
  const PackEntry& entry(std::int64_t number) const { return entries_[static_cast<std::size_t>(number)]; }
  /// The number of a line's first sample; its others follow, up to the next line's first. `line`: 0 to lines().
  std::int64_t first_of(std::int64_t line) const { return firsts_[static_cast<std::size_t>(line)]; }

  /// [n_mels, entry.frames] in half precision.
  std::span<const std::uint16_t> mel(const PackEntry& entry) const;
  /// The facts of a sample that is not bad; its frames are not set. Throws std::logic_error for another.
  BatchSample facts(const PackEntry& entry) const;
  /// The facts of a bad one. Throws std::logic_error for another.
  BadFacts bad_facts(const PackEntry& entry) const;

  /// The sizes of the whole file, and of all features.
  Bytes size() const { return {std::ssize(bytes_)}; }
  Bytes features() const;

 private:
  explicit PackedSet(SetFile<PackHead> opened)
      : file_(std::move(opened.file)), bytes_(file_.bytes()), head_(opened.head) {
    find_index();
  }
  void find_index();
  bool is_intact(std::int64_t number) const;
  std::string_view facts_of(const PackEntry& entry) const;

  MappedFile file_;
  std::unique_ptr<std::byte[]> copy_{};
  std::span<const std::byte> bytes_;  // bytes of the one or the other
  PackHead head_{};
  std::span<const std::int64_t> firsts_{};
  std::span<const PackEntry> entries_{};
};

/// Lines of the set that the options let in.
std::int64_t lines_of(const FeedOptions& options, const Dataset& set);

/// What a packed set is known by: the manifest's content, every file it names (its path, its size and when it was last
/// changed, which nothing can set back), the options that features, pieces and facts depend on, and the code's
/// versions. Queries the file system for every file of the set, some microseconds each, on the threads of the options.
Result<CacheKey> pack_key(const FeedOptions& options, const Dataset& set);

/// A packed sample as a row of a batch: [n_mels, frames] float32, silence behind what is kept of it, blanked where
/// `masks` say. `frames` is no less than its content. Pure but for `out`.
void gather_row(const PackedSet& set, const PackEntry& entry, const SpectrumMasks& masks, float* out,
                std::int64_t frames);

}  // namespace tutti
