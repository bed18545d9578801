#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A stretch [begin, end) of a text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// Finds where the objects of a list lie without reading them, so that the last can be read first and a document of a
/// hundred megabytes costs one quick pass. `text` is a list, or an object with a list under `member`. Errors name the
/// line. Only the structure is checked: strings, brackets, commas; values deeper than 64 levels are refused.
Result<std::vector<TextSpan>> find_elements(std::string_view text, std::string_view member);

/// The line of a text, from 1, that an offset is in.
std::size_t line_of(std::string_view text, std::size_t offset);

}  // namespace tutti
