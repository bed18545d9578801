#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// NFKC, with a space for every mark, symbol and punctuation.
std::u32string remove_symbols(std::u32string_view text);

/// NFKD, with a space for every symbol and punctuation not in `keep`, and without diacritics.
std::u32string remove_symbols_and_diacritics(std::u32string_view text, std::u32string_view keep = {});

/// Without <...>, [...] and, in a second round, (...), each with its content.
std::u32string remove_brackets(std::u32string_view text);

}  // namespace tutti
