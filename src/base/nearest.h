#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// The candidate closest to `word` by edits, or empty when none is close enough to be what was meant.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

}  // namespace tutti
