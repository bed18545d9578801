#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

// The reference's rules and files are made of Python's str, float and json; these are the parts of them it leans on.

/// `text` without the whitespace at both ends, as str.strip(): Unicode's whitespace, U+001C to U+001F included.
std::string_view strip(std::string_view text);

/// The whitespace `text` begins with.
std::string_view leading_space(std::string_view text);

/// Number of code points, as len(str).
std::size_t characters(std::string_view utf8);

/// `text` with every `from` replaced by `to`, as str.replace().
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// Shortest text that reads back as the same double, as repr(): "0.0", "1e-05", "1e+16", "NaN", "-Infinity".
std::string float_text(double value);

/// `utf8` as json.dumps() writes it: quoted, everything outside printable ASCII as \uXXXX.
std::string json_text(std::string_view utf8);

/// list[-count:], which the reference relies on: a count of 0 takes everything, and a negative one leaves out that many
/// from the front. Both happen where prompts fill their capacity.
std::span<const std::int32_t> last_of(std::span<const std::int32_t> list, std::int64_t count);

/// Half-way cases go to the even neighbour, as round(); `value` is finite.
double round_even(double value);

}  // namespace tutti
