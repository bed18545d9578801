#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Token ids by their bytes. The strings stay where they are and must outlive the table, which holds their ids and a
/// part of their hashes only. Filling and querying it is most of what loading a tokenizer costs, and small slots stay
/// in the processor's cache.
class TokenTable {
 public:
  static constexpr std::int32_t kNone = -1;

  /// For the ids of `tokens`, none of which is in it yet.
  explicit TokenTable(std::span<const std::string> tokens = {})
      : tokens_(tokens), slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * tokens.size()))) {}

  /// Returns kNone, or the id that the bytes of token `id` have already; that one stays.
  std::int32_t insert(std::int32_t id) {
    const auto hash = hash_of(tokens_[static_cast<std::size_t>(id)]);
    Slot& slot = slots_[slot_of(tokens_[static_cast<std::size_t>(id)], hash)];
    if (slot.id != kNone) return slot.id;
    slot = {tag_of(hash), id};
    return kNone;
  }
  /// The id of these bytes, or kNone.
  std::int32_t find(std::string_view bytes) const { return slots_[slot_of(bytes, hash_of(bytes))].id; }
  /// As `find`; faster where `likely` is the id.
  std::int32_t find(std::string_view bytes, std::int32_t likely) const {
    const auto at = static_cast<std::size_t>(likely);
    return likely >= 0 && at < tokens_.size() && tokens_[at] == bytes ? likely : find(bytes);
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::int32_t id = kNone;
  };

  static std::size_t hash_of(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }
  static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  /// Where these bytes are, or the free slot where they would be.
  std::size_t slot_of(std::string_view bytes, std::size_t hash) const {
    const std::size_t last = slots_.size() - 1;
    const auto here = [&](const Slot& slot) {
      return slot.tag == tag_of(hash) && tokens_[static_cast<std::size_t>(slot.id)] == bytes;
    };
    std::size_t at = hash & last;
    while (slots_[at].id != kNone && !here(slots_[at])) at = (at + 1) & last;
    return at;
  }

  std::span<const std::string> tokens_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace tutti
