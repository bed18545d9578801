#include "text/manifest/field_names.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::array kOtherNames{"class", "priority", "deadline", "folder_path", "asset_type", "deleted_at", kFileName};

bool is_among(std::span<const char* const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string plain_field_name(std::string_view name) {
  return ascii_lower(trimmed(name));
}

std::string squeezed_field_name(std::string_view name) {
  std::string words = plain_field_name(name);
  std::erase_if(words, [](char c) { return c == ' ' || c == '_' || c == '-'; });
  return words;
}

std::string known_field_name(std::string_view name) {
  std::string plain = plain_field_name(name);
  if (plain == name) return plain;
  for (const std::span<const char* const> names :
       {std::span<const char* const>(kPathNames), {kDurationNames}, {kIdNames}, {kNameNames}, {kOtherNames}})
    if (is_among(names, plain)) return plain;
  return std::string(name);
}

std::string quoted_names(std::span<const std::string> names) {
  constexpr std::size_t kMost = 20, kLongest = 40;
  if (names.empty()) return "none";
  return joined(names.first(std::min(names.size(), kMost)), ", ",
                [](const std::string& name) { return "'" + name.substr(0, kLongest) + "'"; });
}

std::optional<double> seconds_in_field(std::string_view text) {
  constexpr std::size_t kMostParts = 3;  // hours, minutes, seconds
  const auto parts = split(trimmed(text), ':');
  if (parts.empty() || parts.size() > kMostParts || trimmed(text).ends_with(':')) return {};
  double seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = number_in<double>(parts[i]);
    const bool is_last = i + 1 == parts.size();
    if (!part || !std::isfinite(*part) || *part < 0 || (i > 0 && *part >= 60)) return {};
    if (!is_last && *part != std::trunc(*part)) return {};
    seconds = seconds * 60 + *part;
  }
  return seconds;
}

bool is_seconds_field(std::string_view name) {
  const std::string plain = plain_field_name(name);
  return is_among(kDurationNames, plain) || is_among(kStartNames, plain) || plain == "end";
}

}  // namespace tutti
