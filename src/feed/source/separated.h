#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The fields of one line of CSV (RFC 4180: quotes around a field, doubled inside) or of another separator. An unclosed
/// quote is part of its text.
std::vector<std::string> separated_fields(std::string_view line, char separator);

/// Where the line that begins at `at` ends: the offset of its newline, or the text's end. A newline within a quoted
/// field, as separated_fields knows it, belongs to the line.
std::size_t separated_line_end(std::string_view text, std::size_t at, char separator);

}  // namespace tutti
