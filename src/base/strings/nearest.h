#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Levenshtein distance: how many characters must be put in, left out or replaced to make `b` of `a`.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The candidate closest to `word` by edits, or empty when none is close enough to be the intended one.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

}  // namespace tutti
