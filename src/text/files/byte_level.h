#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Byte-level vocabularies (GPT-2's and all that came from it) write every byte as a printable character. Turns such a
/// text into its bytes; false where it holds a character that means no byte.
bool bytes_of_byte_level(std::string_view text, std::string& bytes);

/// The other way round.
std::string byte_level_of_bytes(std::string_view bytes);

}  // namespace tutti
