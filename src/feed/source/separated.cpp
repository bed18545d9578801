#include "feed/source/separated.h"

namespace tutti {
namespace {

/// Whether the quote that begins a field begins a quoted one: it is closed where a field ends, or at least in its line.
/// An unclosed one is a character as any other, and must not swallow the lines behind it.
bool opens_quoted(std::string_view text, std::size_t at, char separator) {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 2)) {
    const char next = end + 1 < text.size() ? text[end + 1] : '\n';
    if (next == '"') continue;  // doubled: it means one
    if (next == separator || next == '\n' || next == '\r') return true;
    return text.substr(at, end - at).find('\n') == std::string_view::npos;
  }
  return false;
}

}  // namespace

std::vector<std::string> separated_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool is_inside = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && is_inside && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"' && (is_inside || (fields.back().empty() && opens_quoted(line, at, separator)))) {
      is_inside = !is_inside;
    } else if (c == separator && !is_inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::size_t separated_line_end(std::string_view text, std::size_t at, char separator) {
  bool is_inside = false, is_field_start = true;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && is_inside && at + 1 < text.size() && text[at + 1] == '"')
      ++at;
    else if (c == '"' && (is_inside || (is_field_start && opens_quoted(text, at, separator))))
      is_inside = !is_inside;
    else if (c == '\n' && !is_inside)
      return at;
    is_field_start = c == separator && !is_inside;
  }
  return text.size();
}

}  // namespace tutti
