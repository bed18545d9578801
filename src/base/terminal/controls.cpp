#include "base/terminal/controls.h"

namespace tutti {

std::string without_controls(std::string_view utf8) {
  const auto byte = [&](std::size_t at) { return at < utf8.size() ? static_cast<unsigned char>(utf8[at]) : 0U; };
  std::string out;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const bool c1 = byte(at) == 0xc2 && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0;  // of two bytes
    if (c1) ++at;
    out += c1 || byte(at) < 0x20 || byte(at) == 0x7f ? ' ' : utf8[at];
  }
  return out;
}

}  // namespace tutti
