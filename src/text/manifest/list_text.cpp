#include "text/manifest/list_text.h"

#include <algorithm>
#include <cstddef>

namespace tutti {
namespace {

using namespace std::string_view_literals;

/// By the mark at its beginning; empty: none of them.
std::string marked_encoding(std::string_view text) {
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv)) return "UTF-16";
  return {};
}

/// The pieces of a text between NULs.
struct Pieces {
  std::size_t all = 0;
  std::size_t empty = 0;
  std::size_t single = 0;     // one byte: every ASCII character of UTF-16 is one
  bool has_line_end = false;  // a line's end alone is no name
};

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  while (!text.empty()) {
    const auto piece = text.substr(0, text.find('\0'));
    ++pieces.all;
    pieces.empty += piece.empty() ? 1 : 0;
    pieces.single += piece.size() == 1 ? 1 : 0;
    const bool is_ended = piece.size() < text.size();  // what `echo` adds at the end is not
    pieces.has_line_end |= is_ended && (piece == "\n" || piece == "\r");
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
  }
  return pieces;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\0' && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
}

/// The encoding of a text with NULs in it; empty: they may well end names.
std::string guessed_encoding(std::string_view text) {
  const Pieces pieces = pieces_of(text);
  if (2 * pieces.empty > pieces.all) return "UTF-32 or no text";
  if (pieces.has_line_end || (pieces.all > 1 && 2 * pieces.single > pieces.all)) return "UTF-16";
  if (std::ranges::any_of(text, is_control)) return "no text";
  return {};
}

}  // namespace

char entry_end(std::string_view text) {
  return text.find('\0') == std::string_view::npos ? '\n' : '\0';
}

Result<void> expect_text(std::string_view text, bool nul_ends, const std::string& name) {
  std::string found = marked_encoding(text);
  if (found.empty() && text.find('\0') != std::string_view::npos) {
    found = guessed_encoding(text);
    if (found.empty() && !nul_ends) found = "a NUL in it";
  }
  if (found.empty()) return {};
  return fail(Fault::unsupported, name + ": expected text in UTF-8, found " + found + "; none of it was read",
              "If it is UTF-16: iconv -f UTF-16 -t UTF-8 OLD > NEW");
}

}  // namespace tutti
