#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tutti {

/// Token ids by their bytes. The bytes stay where they are and must outlive the table. Open addressing: filling and
/// asking it is most of what loading a tokenizer costs, and std::unordered_map takes three times as long.
class TokenTable {
 public:
  static constexpr std::int32_t kNone = -1;

  explicit TokenTable(std::size_t most_tokens = 0)
      : slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * most_tokens))) {}

  /// Returns kNone, or the id that these bytes have already; that one stays.
  std::int32_t insert(std::string_view bytes, std::int32_t id) {
    Slot& slot = slots_[slot_of(bytes)];
    if (slot.id != kNone) return slot.id;
    slot = {bytes, id};
    return kNone;
  }
  /// The id of these bytes, or kNone.
  std::int32_t find(std::string_view bytes) const { return slots_[slot_of(bytes)].id; }

 private:
  struct Slot {
    std::string_view bytes;
    std::int32_t id = kNone;
  };

  /// Where these bytes are, or the free slot where they would be.
  std::size_t slot_of(std::string_view bytes) const {
    std::size_t at = std::hash<std::string_view>()(bytes) & (slots_.size() - 1);
    while (slots_[at].id != kNone && slots_[at].bytes != bytes) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace tutti
