#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tutti {

/// "0:42", "12:05", "3:07:09"; fractions are cut.
std::string length_text(Seconds length);

/// Three figures where they matter: "0.42", "7.3", "158".
std::string short_number(double value);

/// An amount of money, to the hundredth; what is less than a tenth, with two figures: "1.50", "0.017".
std::string money_text(double amount);

/// "0.42 kWh", and in Wh what would be less than a tenth.
std::string energy_text(double joules);

/// Terminal columns `text` takes: code points, wide East Asian ones twice, combining ones not at all.
std::size_t columns_of(std::string_view utf8);

/// `text` cut or padded to exactly `columns`; a cut is marked with an ellipsis, at the front when `keep_end`.
std::string fitted(std::string_view utf8, std::size_t columns, bool keep_end = false);

}  // namespace tutti
