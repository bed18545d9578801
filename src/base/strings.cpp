#include "base/strings.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tutti {

std::string without_controls(std::string_view utf8) {
  const auto byte = [&](std::size_t at) { return at < utf8.size() ? static_cast<unsigned char>(utf8[at]) : 0U; };
  std::string out;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const bool c1 = byte(at) == 0xc2 && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0;  // takes two bytes
    if (c1) ++at;
    out += c1 || byte(at) < 0x20 || byte(at) == 0x7f ? ' ' : utf8[at];
  }
  return out;
}

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, (word.size() + 2) / 3);  // further away is another word
  for (const auto& candidate : candidates) {
    const std::size_t distance = edits_between(word, candidate);
    if (distance > least || (best && distance == least)) continue;
    best = &candidate;
    least = distance;
  }
  return best ? *best : std::string();
}

}  // namespace tutti
