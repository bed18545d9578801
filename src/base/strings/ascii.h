#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// The text with ASCII's capital letters made small and every other byte as it is, whatever the locale: for names,
/// flags and extensions. What people wrote is lower's (text/code_points.h).
inline std::string ascii_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// The text with ASCII's small letters made capitals, likewise.
inline std::string ascii_upper(std::string_view text) {
  std::string capitals(text);
  for (char& c : capitals)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return capitals;
}

}  // namespace tutti
