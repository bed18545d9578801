#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A node of the data a pickle describes. Nodes name each other by index, so that no depth of nesting and no cycle in a
/// hostile file costs a recursion.
struct PickleNode {
  enum class Kind : std::uint8_t {
    none,
    boolean,     // integer
    integer,     // integer
    real,        // real
    text,        // text
    list,        // items
    tuple,       // items
    dict,        // items: key, value, key, value, ...
    global,      // text: "module name"; only named, never looked up
    persistent,  // items[0]: the id
    call,        // items[0]: a global, items[1]: its arguments; only recorded, never made
    mark,        // a bracket on the stack while reading
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text{};  // points into the pickle
  std::vector<std::uint32_t> items{};
};

struct Pickle {
  std::vector<PickleNode> nodes{};
  std::uint32_t root = 0;
};

/// Reads the data a pickle describes and executes nothing: what would be an import or a call in Python becomes a node
/// of that kind. Knows the opcodes that torch.save writes (pickle protocol 2) and names any other in the error.
/// Thread-safe.
Result<Pickle> parse_pickle(std::span<const std::byte> bytes);

}  // namespace tutti
