#include "text/speech/english_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"
#include "text/speech/signs.h"
#include "text/speech/text_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Kind = ReadAloud::Kind;

bool are_capitals(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_upper);
}

int roman_value(std::string_view roman) {
  const auto value = [](char digit) {
    switch (digit) {
      case 'I': return 1;
      case 'V': return 5;
      case 'X': return 10;
      case 'L': return 50;
      default: return 100;
    }
  };
  int sum = 0;
  for (std::size_t i = 0; i < roman.size(); ++i) {
    const int one = value(roman[i]);
    sum += i + 1 < roman.size() && value(roman[i + 1]) > one ? -one : one;
  }
  return sum;
}

/// Roman digits behind what is counted in them.
bool read_roman(EnglishCursor& text) {
  const auto word = text.core(0);
  if (!are_capitals(word) || word.find_first_not_of("IVXLC") != word.npos || !text.has_words()) return false;
  constexpr std::array<std::string_view, 9> kCounted{"chapter", "part",    "volume", "act",  "section",
                                                     "war",     "article", "scene",  "title"};
  constexpr std::array<std::string_view, 24> kNames{
      "henry",    "edward",   "charles",   "george",   "james",     "louis",   "william",   "richard",
      "philip",   "pope",     "pius",      "napoleon", "elizabeth", "john",    "paul",      "francis",
      "benedict", "nicholas", "frederick", "leo",      "peter",     "gregory", "alexander", "mary"};
  const auto& before = text.last_word();
  const std::string digits = std::to_string(roman_value(word));
  if (std::ranges::find(kCounted, before) != kCounted.end()) {
    text.add_words(cardinal_words(digits));
    return true;
  }
  if (word == "I" || std::ranges::find(kNames, before) == kNames.end()) return false;
  text.add_words("the " + ordinal_words(digits));
  return true;
}

bool read_short_form(EnglishCursor& text) {
  const bool is_number = !text.core(1).empty() && is_ascii_digit(text.core(1).front());
  const auto small = ascii_lower(text.core(0));
  if ((small == "no" || small == "fig" || small == "art") && !is_number) return false;
  const bool is_number_sign = text.core(0) == "No" && text.before() && is_number && text.token(0)->behind.empty();
  const bool has_point = text.token(0)->has_point() || is_number_sign;
  const auto form = long_form(text.core(0), has_point, text.next_is_name());
  if (!form) return false;
  text.take_point();
  text.add_words(*form);
  return true;
}

/// "GPUs" and "GPU's": the ending belongs to the last initial's name. "CPUs", where a dictionary has CPU alone.
bool read_several_initials(EnglishCursor& text, std::string_view word) {
  const std::size_t ending = word.ends_with("'s") ? 2 : word.ends_with("s") ? 1 : 0;
  auto capitals = word.substr(0, word.size() - ending);
  if (ending == 0 || capitals.size() < 2 || !are_capitals(capitals)) return false;
  const bool are_spelled = is_spelled(text, capitals);
  if (!are_spelled && text.knows(ascii_lower(word))) return false;
  if (are_spelled) {
    text.spell(capitals.substr(0, capitals.size() - 1));
    capitals = capitals.substr(capitals.size() - 1);
  }
  text.add_words(ascii_lower(capitals) + "'s");
  return true;
}

/// "U.S.", "J." before a name, "FBI" where no dictionary has it.
bool read_initials(EnglishCursor& text) {
  const auto word = text.core(0);
  const auto parts = split(word, '.');
  const auto is_one = [](std::string_view part) { return part.size() == 1 && is_ascii_alphabetic(part.front()); };
  const bool is_dotted = std::ranges::all_of(parts, is_one);
  const bool is_initial = word.size() == 1 && is_ascii_upper(word.front()) && word != "I" && word != "O";
  if (is_dotted && (parts.size() > 1 || (is_initial && text.token(0)->has_point() && text.next_is_name()))) {
    text.take_point();
    text.spell(word);
    return true;
  }
  if (is_initial && word != "A") {
    text.spell(word);
    return true;
  }
  if (!is_spelled(text, word)) return read_several_initials(text, word);
  text.spell(word);
  return true;
}

/// "https://example.com/a", "bob@example.com", "example.com": signs are words.
bool read_address(EnglishCursor& text) {
  const auto parts = address_parts(text.core(0));
  for (const auto& part : parts) {
    if (part.is_spelled)
      text.spell(part.text);
    else if (is_all_digits(part.text))
      text.add_words(cardinal_words(part.text));
    else
      read_compound(text, part.text);
  }
  return !parts.empty();
}

void read_token(EnglishCursor& text) {
  if (text.token(0)->is_ipa) {
    text.add_ipa(text.token(0)->core);
    return;
  }
  const bool is_read = read_sign(text) || read_date(text) || read_time(text) || read_weekday(text) ||
                       read_telephone(text) || read_groups(text) || read_address(text) || read_money(text) ||
                       read_number(text) || read_roman(text) || read_short_form(text) || read_initials(text);
  if (!is_read) read_compound(text, text.core(0));
}

/// Whether a character ends a phrase in some script, as which mark.
char mark_of(char32_t c) {
  switch (c) {
    case U',':
    case U'\u3001':
    case U'\uFF0C':
    case U'\u060C':
    case U'(':
    case U')':
    case U'\u2013':
    case U'\u2014': return ',';
    case U'.':
    case U'\u3002':
    case U'\u0964':
    case U'\u2026': return '.';
    case U';':
    case U'\u061B': return ';';
    case U':': return ':';
    case U'?':
    case U'\uFF1F':
    case U'\u061F': return '?';
    case U'!':
    case U'\uFF01': return '!';
    default: return 0;
  }
}

}  // namespace

std::vector<ReadAloud> read_english(std::string_view text, const KnowsWord& knows, std::set<std::string>& skipped) {
  EnglishCursor cursor(english_tokens(without_markup(text), skipped), knows, skipped);
  while (!cursor.is_at_end()) {
    if (cursor.token(0)->is_opened) cursor.add_mark(',');
    read_token(cursor);
    cursor.finish_token();
  }
  return cursor.take();
}

std::vector<ReadAloud> read_characters(std::string_view text, std::set<std::string>& skipped) {
  std::vector<ReadAloud> out;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back({Kind::word, to_utf8(word)});
    word.clear();
  };
  const auto take_text = [&](std::string_view part) {
    for (const char32_t c : nfkc(lower(to_code_points(part)))) {
      if (is_word_character(c) || class_of(c) == GeneralClass::mark || class_of(c) == GeneralClass::mark_nonspacing ||
          (c == U'\'' && !word.empty())) {
        word += c;
        continue;
      }
      end_word();
      const char mark = mark_of(c);
      if (mark == 0 && class_of(c) == GeneralClass::symbol && !is_silent(c)) skipped.insert(to_utf8({&c, 1}));
      if (mark == 0 || out.empty()) continue;
      if (out.back().kind != Kind::mark) out.push_back({Kind::mark, std::string(1, mark)});
    }
    end_word();
  };
  const std::string plain = without_markup(text);
  for (const auto& part : split_ipa(plain)) {
    if (part.is_ipa)
      out.push_back({Kind::ipa, std::string(part.text)});
    else
      take_text(part.text);
  }
  return out;
}

}  // namespace tutti
