#include "view/terminal_text.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 13> kLikeness{{{"█", '#'},
                                                                       {"░", '-'},
                                                                       {"▒", '+'},
                                                                       {"…", '~'},
                                                                       {"×", 'x'},
                                                                       {"±", '~'},
                                                                       {"·", '.'},
                                                                       {"└", '`'},
                                                                       {"─", '-'},
                                                                       {"│", '|'},
                                                                       {"▸", '>'},
                                                                       {"°", ' '},
                                                                       {"–", '-'}}};

std::size_t bytes_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return std::min<std::size_t>(lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4, text.size() - at);
}

const char* sequence_of(Tint tint) {
  switch (tint) {
    case Tint::plain: return "";
    case Tint::strong: return "\x1b[1m";
    case Tint::faint: return "\x1b[2m";
    case Tint::notice: return "\x1b[33m";
    case Tint::alarm: return "\x1b[1;31m";
    case Tint::inverse: return "\x1b[7m";
  }
  return "";
}

}  // namespace

Screen screen_of(int fd) {
  Screen screen;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return screen;
  if (size.ws_col > 0) screen.columns = size.ws_col;
  if (size.ws_row > 0) screen.lines = size.ws_row;
  return screen;
}

std::string in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view glyph = text.substr(at, bytes_at(text, at));
    at += glyph.size();
    const auto like = std::find_if(kLikeness.begin(), kLikeness.end(), [&](const auto& l) { return l.first == glyph; });
    if (glyph.size() == 1 && static_cast<unsigned char>(glyph[0]) < 0x80)
      out += glyph;
    else if (like != kLikeness.end())
      out += like->second;
    else
      out += std::string(columns_of(glyph), '?');
  }
  return out;
}

std::string screen_line(const Screen& screen, std::string_view text, Tint tint) {
  std::string line = fitted(without_controls(text), screen.columns);
  if (screen.ascii) line = in_ascii(line);
  if (!screen.colour || tint == Tint::plain) return line;
  return sequence_of(tint) + line + "\x1b[0m";
}

std::string bar_of(double share, std::size_t columns) {
  const auto full = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns)));
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) out += i < full ? "█" : "░";
  return out;
}

std::string gigabytes(Bytes bytes) {
  return short_number(static_cast<double>(bytes.value) / 1e9);
}

std::string percent(double share) {
  return fixed_text(100 * share, 0) + " %";
}

}  // namespace tutti
