#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// Whole numbers of any length as ASCII figures without leading zeros ("0" for zero): what the number normaliser needs
/// of Python's int and Fraction, whose numbers have no largest one either ("decillion").

/// `figures` without leading zeros.
std::string trimmed_figures(std::string_view figures);

/// a + b.
std::string add_figures(std::string_view a, std::string_view b);

/// Whether `figures` is divisible by 10^zeros.
bool ends_in_zeros(std::string_view figures, std::size_t zeros);

/// value / 1000 * 1000 + value % 1000 * 10^zeros: "two thousand three" times a hundred is 2300.
std::string multiply_rest(std::string_view value, std::size_t zeros);

/// A number such as "12", "1.5", "1." or ".5" times 10^zeros; nothing where `text` is no such number or the product is
/// not whole.
std::optional<std::string> shift_point(std::string_view text, std::size_t zeros);

/// Whether `text` is figures with at most one point inside: ^\d+(\.\d+)?$
bool is_numeric(std::string_view text);

/// "3.0" is whole: nothing but zeros behind the point, if there is one. `text` is numeric.
std::optional<std::string> whole_number(std::string_view text);

}  // namespace tutti
