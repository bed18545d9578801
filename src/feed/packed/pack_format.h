#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/numbers.h"
#include "feed/feature_cache.h"

namespace tutti {

// A packed set as it is on disk: the head, records, the index. A record is a sample's features, [n_mels, frames] in
// half precision, and what is known of it (sample_facts.h), behind a head of its own, by which a continued packing
// recognises it. The index holds where each begins: first the number of the first entry of every line, [lines + 1]
// int64, then the entries. As this machine writes numbers: a file that another kind of machine wrote has another magic
// number.

inline constexpr std::uint64_t kPackMagic = 0x3230746573747574;  // "tutset02"; other contents, another number

inline constexpr const char* kPackEnding = ".setpack";
/// The ending of a pack that is not whole yet.
inline constexpr const char* kHalfPackEnding = ".setpack.half";

/// Records and the index begin at multiples of it: wherever they are, a number may.
inline constexpr std::int64_t kPackAlignment = 8;

struct PackHead {
  std::uint64_t magic = kPackMagic;
  CacheKey key{};
  std::int64_t n_mels = 0;
  std::int64_t lines = 0;
  std::int64_t entries = 0;
  std::int64_t index_at = 0;      ///< in bytes
  std::uint64_t index_check = 0;  ///< checksum of the index
  std::uint64_t head_check = 0;   ///< checksum of the head without it
};

/// A sample of the set: a line, or a piece of a recording that is cut; also a bad one, which has no features.
struct PackEntry {
  std::int64_t at = 0;       ///< offset of its record, behind its head, in bytes
  std::uint64_t check = 0;   ///< checksum of its record, filled up to kPackAlignment
  std::int32_t piece = -1;   ///< as PlannedSample::piece; kBadLine: found out before there were pieces
  std::int32_t planned = 0;  ///< frames expected before it was decoded
  std::int32_t real = 0;     ///< frames of content; 0: a bad sample, whose facts are its id and why
  std::int32_t frames = 0;   ///< columns kept: content and what straddles its end
  std::int32_t facts = 0;    ///< bytes behind the features
  float silence = 0;         ///< what follows the columns
  float mean = 0;            ///< spectrum_mean of the content
  std::int32_t reserved = 0;

  bool is_bad() const { return real == 0; }
};

inline constexpr std::int32_t kBadLine = -2;

/// In front of a record.
struct RecordHead {
  std::uint64_t check = 0;   ///< checksum of the head without it
  std::int64_t number = -1;  ///< number of the sample, among all of the set
  PackEntry entry{};         ///< as the index will have it
};

static_assert(std::is_trivially_copyable_v<PackHead> && sizeof(PackHead) == 72);
static_assert(std::is_trivially_copyable_v<PackEntry> && sizeof(PackEntry) == 48);
static_assert(std::is_trivially_copyable_v<RecordHead> && sizeof(RecordHead) == 64);

/// Bytes of a sample's features.
inline std::int64_t feature_bytes(std::int64_t n_mels, std::int64_t frames) {
  return n_mels * frames * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

/// Bytes of a sample's record without its head.
inline std::int64_t record_bytes(const PackEntry& entry, std::int64_t n_mels) {
  return rounded_up(feature_bytes(n_mels, entry.frames) + entry.facts, kPackAlignment);
}

/// What `check` must be.
inline std::uint64_t check_of_head(RecordHead head) {
  head.check = 0;
  return checksum(std::as_bytes(std::span(&head, 1)));
}

}  // namespace tutti
