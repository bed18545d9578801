#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "feed/packed/pack_format.h"
#include "feed/prepared_set.h"

namespace tutti {

/// Writes a packed set under a name of its own, and gives it its name when it is whole and on the disk. A packing that
/// ends before, also by `kill -9`, leaves what it has written for the next one to continue. Only what could not be
/// written is cleared away at once.
class PackWriter {
 public:
  /// `path` ends with kPackEnding, and names what is packed: whatever is half written there is of the same set.
  static Result<std::unique_ptr<PackWriter>> create(const std::filesystem::path& path);
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;
  ~PackWriter();

  /// Fills in the entries of the samples that an interrupted packing has left, by number, up to the first record that
  /// is not whole; what is behind it is dropped. Returns how many. Before all appending.
  Result<std::int64_t> resume(std::int64_t n_mels, std::vector<PackEntry>& entries);
  /// Appends the record of sample `number` and fills in where it is, its size and its digest. Thread-safe. `mel`:
  /// [n_mels, entry.frames].
  Result<void> append(std::int64_t number, PackEntry& entry, std::span<const std::uint16_t> mel,
                      const std::string& facts);
  /// Writes the index and the head (`key` and `n_mels` of it are given), syncs, renames. After all appending.
  Result<void> publish(PackHead head, const std::vector<std::int64_t>& firsts, const std::vector<PackEntry>& entries);

 private:
  explicit PackWriter(std::unique_ptr<SetFileWriter> file) : file_(std::move(file)) {}
  bool read_record(std::int64_t at, RecordHead& head, std::vector<std::byte>& body, std::int64_t n_mels) const;

  std::unique_ptr<SetFileWriter> file_;
};

/// What an interrupted packing of that set has left on the disk, the damaged included.
Bytes half_packed(const std::filesystem::path& path);

/// Clears away what interrupted packings of other sets than `path` have left. Only for a caller that may pack in its
/// folder now.
void remove_other_half_packs(const std::filesystem::path& path);

}  // namespace tutti
