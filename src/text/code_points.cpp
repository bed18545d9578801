#include "text/code_points.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/owned.h"
#include "text/utf8.h"

namespace tutti {
namespace {

std::u32string mapped(std::u32string_view text, int options) {
  const std::string utf8 = to_utf8(text);
  utf8proc_uint8_t* made = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()), static_cast<utf8proc_ssize_t>(utf8.size()),
                   &made, static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  if (size < 0) throw std::bad_alloc();  // the text is valid, so nothing else can go wrong
  const std::unique_ptr<utf8proc_uint8_t, FreeWith<std::free>> owned(made);
  return to_code_points({reinterpret_cast<const char*>(made), static_cast<std::size_t>(size)});
}

}  // namespace

std::u32string nfc(std::u32string_view text) {
  return mapped(text, UTF8PROC_COMPOSE);
}

std::u32string nfkc(std::u32string_view text) {
  return mapped(text, UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

std::u32string nfkd(std::u32string_view text) {
  return mapped(text, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

std::u32string case_folded(std::u32string_view text) {
  return mapped(text, UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

bool at_word_border(std::u32string_view text, std::size_t at) {
  const bool before = at > 0 && is_word_character(text[at - 1]);
  const bool after = at < text.size() && is_word_character(text[at]);
  return before != after;
}

std::vector<std::u32string_view> split_at_spaces(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > start) words.push_back(text.substr(start, at - start));
    while (at < text.size() && is_space(text[at])) ++at;
  }
  return words;
}

std::u32string substitute(std::u32string_view text,
                          const std::function<std::optional<Replacement>(std::size_t at)>& match_at) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const auto found = match_at(at)) {
      out += found->text;
      at += found->length;
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

std::u32string join_spaces(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_space(text[at]))
      out.push_back(text[at]);
    else if (at == 0 || !is_space(text[at - 1]))
      out.push_back(U' ');
  }
  return out;
}

}  // namespace tutti
