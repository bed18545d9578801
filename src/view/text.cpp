#include "view/text.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/numbers.h"

namespace tutti {
namespace {

struct Glyph {
  std::string_view bytes;
  std::size_t columns;
};

bool between(std::uint32_t code, std::uint32_t first, std::uint32_t last) {
  return code >= first && code <= last;
}

/// Unicode's East Asian Wide blocks and combining marks, as coarse as terminals are.
std::size_t columns_of_code(std::uint32_t code) {
  if (between(code, 0x300, 0x36f) || between(code, 0x200b, 0x200f) || between(code, 0xfe00, 0xfe0f)) return 0;
  const bool wide = between(code, 0x1100, 0x115f) || between(code, 0x2e80, 0xa4cf) || between(code, 0xac00, 0xd7a3) ||
                    between(code, 0xf900, 0xfaff) || between(code, 0xfe30, 0xfe6f) || between(code, 0xff00, 0xff60) ||
                    between(code, 0x1f300, 0x1faff) || between(code, 0x20000, 0x3fffd);
  return wide ? 2 : 1;
}

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t code = size == 1 ? lead : lead & (0xffU >> (size + 1));
    const std::string_view bytes = text.substr(at, size);
    for (std::size_t i = 1; i < bytes.size(); ++i) code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3fU);
    glyphs.push_back({bytes, code < 0x20 ? 0 : columns_of_code(code)});
    at += bytes.size();
  }
  return glyphs;
}

}  // namespace

std::string length_text(Seconds length) {
  const auto whole = static_cast<long long>(std::max(0.0, length.count()));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  return fixed_text(value, size < 1 ? 2 : size < 100 ? 1 : 0);
}

std::string money_text(double amount) {
  char text[40];
  std::snprintf(text, sizeof text, amount < 0.1 ? "%.2g" : "%.2f", amount);
  return text;
}

std::string energy_text(double joules) {
  constexpr double kJoulesAKilowattHour = 3.6e6;
  const double kilowatt_hours = joules / kJoulesAKilowattHour;
  if (kilowatt_hours < 0.1) return short_number(1000 * kilowatt_hours) + " Wh";
  return short_number(kilowatt_hours) + " kWh";
}

std::size_t columns_of(std::string_view utf8) {
  std::size_t columns = 0;
  for (const auto& glyph : glyphs_of(utf8)) columns += glyph.columns;
  return columns;
}

std::string fitted(std::string_view utf8, std::size_t columns, bool keep_end) {
  const std::size_t have = columns_of(utf8);
  if (have <= columns) return std::string(utf8) + std::string(columns - have, ' ');
  if (columns == 0) return {};
  const auto glyphs = glyphs_of(utf8);
  std::string out;
  std::size_t used = 1;  // the ellipsis
  const auto take = [&](const Glyph& glyph) {
    if (used + glyph.columns > columns) return false;
    used += glyph.columns;
    if (keep_end)
      out.insert(0, glyph.bytes);
    else
      out += glyph.bytes;
    return true;
  };
  if (keep_end)
    for (auto glyph = glyphs.rbegin(); glyph != glyphs.rend() && take(*glyph); ++glyph) {
    }
  else
    for (auto glyph = glyphs.begin(); glyph != glyphs.end() && take(*glyph); ++glyph) {
    }
  const std::string pad(columns - used, ' ');
  return keep_end ? "…" + out + pad : out + "…" + pad;
}

}  // namespace tutti
