#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "feed/packed/pack_format.h"

namespace tutti {

/// Writes a packed set under a name of its own, and gives it its name when it is whole and on the disk. What is not
/// published goes with the writer; what `kill -9` leaves is for `remove_half_packs`.
class PackWriter {
 public:
  /// `path` ends with kPackEnding.
  static Result<std::unique_ptr<PackWriter>> create(const std::filesystem::path& path);
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;
  ~PackWriter();

  /// Appends a record and fills in where it is, its size and its digest. Thread-safe. `mel`: [n_mels, entry.frames].
  Result<void> append(PackEntry& entry, std::span<const std::uint16_t> mel, const std::string& facts);
  /// Writes the index and the head (`key` and `n_mels` of it are given), syncs, renames. After all appending.
  Result<void> publish(PackHead head, const std::vector<std::int64_t>& firsts, const std::vector<PackEntry>& entries);

 private:
  PackWriter(std::filesystem::path path, std::filesystem::path half, OwnedFd file)
      : path_(std::move(path)), half_(std::move(half)), file_(std::move(file)) {}
  Result<void> put(std::int64_t at, std::span<const std::byte> bytes) const;

  std::filesystem::path path_;
  std::filesystem::path half_;
  OwnedFd file_;
  std::atomic<std::int64_t> end_{sizeof(PackHead)};
};

/// Clears away what processes left that ended while they packed. Only for whoever may pack in that folder now.
void remove_half_packs(const std::filesystem::path& folder);

}  // namespace tutti
