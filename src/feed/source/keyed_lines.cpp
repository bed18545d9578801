#include "feed/source/keyed_lines.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view key_in(std::string_view line) {
  line = trimmed(line);
  return line.substr(0, std::min(line.find_first_of(kBlanks), line.size()));
}

}  // namespace

std::string_view KeyedLines::key(std::int64_t index) const {
  return key_in(lines_.line(index));
}

std::string_view KeyedLines::value(std::int64_t index) const {
  const std::string_view line = trimmed(lines_.line(index));
  return trimmed(line.substr(key_in(line).size()));
}

Result<KeyedLines> KeyedLines::open(const std::filesystem::path& path) {
  auto lines = TRY(LineIndex::open(path));
  KeyedLines keyed(std::move(lines));
  if (keyed.size() > std::numeric_limits<std::int32_t>::max())
    return fail(Fault::unsupported, path.string() + ": has more than two thousand million lines");
  std::vector<std::string_view> keys;
  keys.reserve(static_cast<std::size_t>(keyed.size()));
  for (std::int64_t i = 0; i < keyed.size(); ++i) keys.push_back(keyed.key(i));
  const auto key_of = [&](std::int32_t line) { return keys[static_cast<std::size_t>(line)]; };
  if (!std::ranges::is_sorted(keys)) {
    keyed.order_.resize(keys.size());
    std::iota(keyed.order_.begin(), keyed.order_.end(), 0);
    std::ranges::sort(keyed.order_, {}, key_of);
    std::ranges::sort(keys);
  }
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end())
    return fail(Fault::corrupt, path.string() + ": has '" + std::string(*twice) + "' twice",
                "Let each key have one line; Kaldi's utils/validate_data_dir.sh finds them");
  return keyed;
}

std::optional<std::string_view> KeyedLines::find(std::string_view key) const {
  std::int64_t first = 0, last = size();
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (this->key(at_rank(middle)) < key)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == size() || this->key(at_rank(first)) != key) return std::nullopt;
  return value(at_rank(first));
}

}  // namespace tutti
