#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace tutti {

/// The parts of `text` between separators, as views into it, the other way of `joined`: "a,,b," is "a", "" and "b". No
/// text has no parts.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace tutti
