#include "text/token_table.h"

#include <algorithm>
#include <bit>

namespace tutti {

TokenTable::TokenTable(std::size_t most_tokens) : slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * most_tokens))) {}

std::int32_t TokenTable::insert(std::string_view bytes, std::int32_t id) {
  Slot& slot = slots_[slot_of(bytes)];
  if (slot.id == kNone) {
    slot = {bytes, id};
    return kNone;
  }
  return slot.id;
}

}  // namespace tutti
