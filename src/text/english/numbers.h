#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Spelled-out numbers in figures: "two hundred and twenty second" -> "222nd", "three dollars" -> "$3", "one oh one" ->
/// "101". `text` is in lower case; words come back with one space between them.
std::u32string figures_for_number_words(std::u32string_view text);

}  // namespace tutti
