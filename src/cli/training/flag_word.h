#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings/values.h"

namespace tutti {

/// A flag among the words of a command line that is read before its table, and its value, where it has one.
struct FlagWord {
  std::string name{};  // with hyphens, without prefix; empty: the word is no such flag
  std::optional<std::string> value{};
  std::size_t words = 1;  // that it takes
};

/// The flag at words[i] that begins with "--" and `prefix`, with the next word as its value where that is none itself.
inline FlagWord flag_at(const std::vector<std::string>& words, std::size_t i, const std::string& prefix) {
  const auto equals = std::min(words[i].find('='), words[i].size());
  FlagWord flag{.name = with_hyphens(words[i].substr(0, equals))};
  const auto start = "--" + with_hyphens(prefix);
  flag.name = flag.name.starts_with(start) ? flag.name.substr(start.size()) : std::string();
  if (equals < words[i].size()) {
    flag.value = words[i].substr(equals + 1);
  } else if (i + 1 < words.size() && !words[i + 1].starts_with("-")) {
    flag.value = words[i + 1];
    flag.words = 2;
  }
  return flag;
}

}  // namespace tutti
