#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// `text` without the byte order mark of UTF-8 in front, which some editors write and which is no text.
std::string_view without_mark(std::string_view text);

/// `bytes` as UTF-8 where they begin with a byte order mark of UTF-16, as spreadsheets and editors of Windows write it;
/// else nothing. The mark is left out. Halves of pairs and an odd byte at the end become U+FFFD.
std::optional<std::string> utf8_of_utf16(std::string_view bytes);

/// The same of a text that lost its mark: where zeros are at nearly every second byte, and nearly nowhere else, as
/// UTF-16 has them in lines of Western languages.
std::optional<std::string> utf8_of_unmarked_utf16(std::string_view bytes);

}  // namespace tutti
