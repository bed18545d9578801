#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tutti {

/// The terminal something is drawn for.
struct Screen {
  std::size_t columns = 80;
  std::size_t lines = 24;
  bool ascii = false;   // no character outside ASCII
  bool colour = false;  // SGR sequences around what needs the eye
};

/// The size of the terminal behind a descriptor; of what it does not state, the usual one.
Screen screen_of(int fd);

enum class Tint { plain, strong, faint, notice, alarm, inverse };

/// `text` cut or padded to exactly the screen's columns, in ASCII where that is requested, tinted where colours are.
std::string screen_line(const Screen& screen, std::string_view text, Tint tint = Tint::plain);

/// The same columns in ASCII: block and box characters by their likeness, anything else a question mark a column.
std::string in_ascii(std::string_view utf8);

/// A bar of `columns`, `share` of it filled.
std::string bar_of(double share, std::size_t columns);

/// "6.1" of "6.1 GB": gigabytes of 10^9, as NVIDIA's tools and vendors' names count.
std::string gigabytes(Bytes bytes);
/// "45 %".
std::string percent(double share);

}  // namespace tutti
