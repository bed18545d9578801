#pragma once

#include <cstddef>
#include <string_view>

namespace tutti {

/// Bytes of the first piece of `text` (which must not be empty, and valid UTF-8) by the expression that GPT-2 splits
/// text with before merging; no token crosses a border between pieces:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t first_piece(std::string_view text);

}  // namespace tutti
