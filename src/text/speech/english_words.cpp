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
#include "text/speech/word_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Kind = ReadAloud::Kind;

bool are_capitals(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_upper);
}

/// Short forms that are words, or others, where no number is behind them: "he wrote no.", "a fig."
bool needs_number(std::string_view small) {
  constexpr auto kCounted =
      std::to_array<std::string_view>({"no",  "nos", "fig", "figs", "art", "tab", "ex",  "eq", "par", "est",
                                       "ste", "c",   "ca",  "cat",  "pop", "ref", "exp", "ss", "op",  "reg"});
  return std::ranges::find(kCounted, small) != kCounted.end();
}

/// Titles, which a name follows: "Rep. Lee", not "the last rep."
bool needs_name(std::string_view small) {
  constexpr auto kTitles =
      std::to_array<std::string_view>({"rep", "sen", "adm", "pvt", "cpl", "ens", "amb", "det", "insp", "assoc", "fr"});
  return std::ranges::find(kTitles, small) != kTitles.end();
}

/// "the invoice no. is": "no" is short for number before a word that goes on.
bool is_number_of(const EnglishCursor& text, std::string_view small) {
  constexpr auto kGoesOn = std::to_array<std::string_view>({"is", "was", "on", "for", "of", "below", "above", "and"});
  return small == "no" && text.token(0)->behind == "." && text.before() && text.before()->behind.empty() &&
         std::ranges::find(kGoesOn, text.core(1)) != kGoesOn.end();
}

/// Whether "St" ends the name of a street, whatever is behind it: "the 7th St Entry", "46 Long Lane St. Leeds".
bool is_of_street(const EnglishCursor& text) {
  constexpr std::size_t kMostWords = 3;
  if (text.token(0)->is_opened) return false;
  for (std::size_t back = 1; back <= kMostWords; ++back) {
    const auto* before = text.before(back);
    if (!before || !before->behind.empty() || before->core.empty()) return false;
    if (back == 1 && is_ordinal(before->core)) return true;
    if (is_all_digits(before->core)) return back > 1;
    if (!is_ascii_upper(before->core.front())) return false;
  }
  return false;
}

/// What a short form is before a number alone: "col. 3", "Gr 5-7".
std::string_view counted_form(const EnglishCursor& text) {
  if (text.core(0) == "col" && text.token(0)->has_point()) return "column";
  return text.core(0) == "Gr" ? "grade" : "";
}

bool read_short_form(EnglishCursor& text) {
  const bool is_number = !text.core(1).empty() && is_ascii_digit(text.core(1).front());
  const auto small = ascii_lower(text.core(0));
  if (text.core(0).size() == 1 && is_ascii_upper(text.core(0).front()) && !is_number) return false;  // "Colin P. Lee"
  const bool is_before_colon =
      text.token(0)->behind == ":" && (small == "tel" || small == "ext" || text.core(0) == "Ref");
  const bool is_before_price = small == "reg" && text.core(1).starts_with('$');
  if ((needs_number(small) && !is_number && !is_before_price && !is_before_colon && small != "est" &&
       !is_number_of(text, small)) ||
      (needs_name(small) && !text.next_is_name()))
    return false;
  const bool is_before_year = (small == "b" || small == "d") && text.core(0) == small && may_be_year(text.core(1));
  if ((small == "b" || small == "d") && !is_before_year) return false;
  if (small == "est" && !is_number && !text.token(0)->has_point()) return false;
  const bool is_number_sign = text.core(0) == "No" && text.before() && is_number && text.token(0)->behind.empty();
  const bool is_of_building = ((small == "apt" || small == "fl" || small == "ext") && is_number) ||
                              (text.core(0) == "Apt" && text.core(1).starts_with('#'));
  const bool has_point = text.token(0)->has_point() || is_number_sign || is_before_colon || is_of_building;
  const auto* before = text.before();
  const bool is_behind_name =
      before && before->behind.empty() && !before->core.empty() && is_ascii_upper(before->core.front());
  const bool is_round = text.core(0) == "Rd" && is_number && !is_behind_name;  // not "County Rd. 12"
  // "the 7th St Entry" is of a street, "the 7th Dr Who" is not
  const bool is_before_name = text.next_is_name() && !(small == "st" && is_of_street(text));
  const bool is_road = text.core(0) == "Rt" && is_number;
  const auto counted = is_number ? counted_form(text) : std::string_view();
  const bool is_right = text.core(0) == "Rt" && text.token(0)->has_point() &&  // "The Rt. Rev."
                        (text.core(1) == "Rev" || text.core(1) == "Hon");
  const bool is_circa = (small == "c" || small == "ca") && has_point;
  const auto with = text.core(1);  // "Dr. and Mrs. Lee"
  const bool is_couple = text.core(0) == "Dr" && !is_behind_name && (with == "and" || with == "&") &&
                         long_form(text.core(2), true, true) && is_ascii_upper(text.core(2).front());
  const bool is_circuit =
      text.core(0) == "Cir" && before && (is_ordinal(before->core) || before->core == "D.C" || before->core == "Fed");
  const bool is_church = text.core(0) == "Ch" && has_point && is_behind_name && !is_number;  // "St. Mary's Ch."
  const auto next = text.core(1);
  const bool is_estimated = small == "est" && has_point && !next.empty() && ascii_lower(next) == next && !is_number;
  const auto counted_by = text.has_words() ? std::string_view(text.last_word()) : std::string_view();
  const bool is_barrel = small == "bbl" && (counted_by == "a" || counted_by == "one");
  const bool is_revision = text.core(0) == "Rev" && (is_number || (next.size() == 1 && is_ascii_upper(next.front())));
  // "Rev A", "Rev. 2"; not "Rev. A. Sharpton"
  const bool is_of_revision = is_revision && !(text.token(1) && text.token(1)->has_point() && !text.core(2).empty());
  const auto rate = text.has_words() && text.last_word() == "per" ? unit_name(text.core(0), true) : std::nullopt;
  if (rate && small.size() > 1) {  // "per gal."
    text.take_point();
    text.add_words(*rate);
    return true;
  }
  const auto form = is_estimated       ? "estimated"
                    : is_road          ? "route"
                    : is_right         ? "right"
                    : is_circuit       ? "circuit"
                    : !counted.empty() ? counted
                    : is_round         ? "round"
                    : is_circa         ? "circa"
                    : is_church        ? "church"
                    : is_couple        ? "doctor"
                    : is_of_revision   ? "revision"
                    : is_barrel        ? "barrel"
                                       : long_form(text.core(0), has_point, is_before_name);
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

/// "A" where it is no article: "(A)", "A: yes", "vitamin A", "from A to Z". `is_listed`: of small characters "a)".
bool is_named_a(const EnglishCursor& text) {
  const auto& token = *text.token(0);
  if (token.core == "a") return token.behind.starts_with(')') && (token.is_opened || !text.before());
  if (token.core != "A") return false;
  if (token.behind.starts_with(')') || token.behind.starts_with(':')) return true;
  if (text.is_shouted()) return false;
  const auto article = text.small_before();
  if ((article == "the" || article == "an") && text.before()->behind.empty()) return true;  // "the A train"
  const auto* other = text.token(2);
  if ((text.core(1) == "to" || text.core(1) == "and" || text.core(1) == "or") && other && other->core.size() == 1 &&
      is_ascii_upper(other->core.front()) && other->core != "I")
    return true;
  constexpr auto kNamed = std::to_array<std::string_view>(
      {"vitamin", "option",    "plan",  "type",     "grade",    "class",   "group", "team",
       "section", "hepatitis", "part",  "appendix", "schedule", "form",    "size",  "series",
       "block",   "gate",      "level", "point",    "side",     "exhibit", "to"});
  const auto* before = text.before();
  const bool is_named =
      before && before->behind.empty() && std::ranges::find(kNamed, text.small_before()) != kNamed.end();
  return is_named && (!token.behind.empty() || text.core(1).empty() || ascii_lower(text.core(1)) == text.core(1));
}

/// "BA 286": an airline before its number.
bool is_of_flight(const EnglishCursor& text) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"IN", "ON", "AT", "TO", "BY", "OF", "OR", "NO", "IF", "IS", "AS",
                                       "AN", "MY", "GO", "DO", "SO", "UP", "WE", "HE", "ME", "BE"});
  constexpr std::size_t kLeast = 2, kMost = 4;
  const auto word = text.core(0), number = text.core(1);
  return word.size() == 2 && are_capitals(word) && is_all_digits(number) && number.size() >= kLeast &&
         number.size() <= kMost && text.token(0)->behind.empty() && !text.is_shouted() &&
         std::ranges::find(kWords, word) == kWords.end();
}

/// "3f9a2c": digits and characters of a checksum or of a commit, one by one.
bool read_hash(EnglishCursor& text) {
  constexpr std::size_t kLeast = 6;
  const auto word = text.core(0);
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  if (word.starts_with("0x") && word.size() > 2 && word.find_first_not_of(kHex, 2) == word.npos) {  // "0x80070057"
    text.add_words("zero");
    for (const char one : word.substr(1))
      is_ascii_digit(one) ? text.add_words(digit_words({&one, 1})) : text.spell({&one, 1});
    return true;
  }
  if (word.size() < kLeast || word.find_first_not_of("0123456789abcdef") != word.npos) return false;
  std::size_t changes = 0;
  for (std::size_t at = 1; at < word.size(); ++at) changes += is_ascii_digit(word[at]) != is_ascii_digit(word[at - 1]);
  const auto& token = *text.token(0);
  const bool is_in_brackets = token.is_opened && token.behind.starts_with(')');  // "(71059ca)"
  if (changes < (is_in_brackets ? 1 : 2)) return false;
  for (const char one : word) is_ascii_digit(one) ? text.add_words(digit_words({&one, 1})) : text.spell({&one, 1});
  return true;
}

/// "AA batteries", "AAA".
bool read_battery(EnglishCursor& text) {
  const auto word = text.core(0);
  const bool is_double = word == "AA" && ascii_lower(text.core(1)).starts_with("batter");
  if (!is_double && word != "AAA") return false;
  text.add_words(is_double ? "double" : "triple");
  text.spell("a");
  return true;
}

/// "U.S.-China", "the U.N.'s": initials that are joined to what is behind them.
bool read_joined_initials(EnglishCursor& text) {
  const std::string word(text.core(0));
  const auto end = word.find_first_of("-'");
  const auto initials = split(std::string_view(word).substr(0, end == word.npos || end == 0 ? 0 : end - 1), '.');
  const auto is_one = [](std::string_view part) { return part.size() == 1 && is_ascii_upper(part.front()); };
  if (end == word.npos || end + 1 == word.size() || initials.size() < 2 || word[end - 1] != '.' ||
      !std::ranges::all_of(initials, is_one))
    return false;
  const auto rest = std::string_view(word).substr(end + 1);
  const bool is_possessive = word[end] == '\'' && rest == "s";
  if (word[end] == '\'' && !is_possessive) return false;
  std::string capitals = word.substr(0, end - 1);
  if (is_possessive) capitals.pop_back();
  text.spell(capitals);
  if (is_possessive)
    text.add_words(ascii_lower(initials.back()) + "'s");
  else
    read_compound(text, rest);
  return true;
}

/// "U.S.", "J." before a name, "FBI" where no dictionary has it.
bool read_initials(EnglishCursor& text) {
  if (read_joined_initials(text)) return true;
  const auto word = text.core(0);
  const auto parts = split(word, '.');
  constexpr auto kDegrees = std::to_array<std::string_view>({"Sc", "Ed", "Phil", "Mus", "Eng"});  // "M.Sc."
  const auto is_one = [&](std::string_view part) {
    const bool is_degree = part.data() != word.data() && std::ranges::find(kDegrees, part) != kDegrees.end();
    return (part.size() == 1 && is_ascii_alphabetic(part.front())) || is_degree;
  };
  const bool is_dotted = std::ranges::all_of(parts, is_one);
  const bool is_initial = word.size() == 1 && is_ascii_upper(word.front()) && word != "I" && word != "O";
  const auto next = text.core(1);
  const bool is_next_small = !next.empty() && ascii_upper(next) != next && !is_ascii_digit(next.front()) &&
                             !is_ascii_upper(next.front());  // "E. coli"
  const bool goes_on = text.token(0)->behind == "." && (is_next_small || next == "&");
  if (is_dotted &&
      (parts.size() > 1 || (is_initial && (goes_on || (text.token(0)->has_point() && text.next_is_name()))))) {
    text.take_point();
    text.spell(word);
    return true;
  }
  if (read_battery(text)) return true;
  if (const auto spoken = spoken_acronym(word); spoken && !text.knows(ascii_lower(word))) {
    text.add_words(*spoken);
    return true;
  }
  if ((is_initial && word != "A") || is_named_a(text) || is_of_flight(text)) {
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
  const auto text_at = [&](std::size_t at) { return at < parts.size() ? std::string_view(parts[at].text) : ""; };
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const auto& part = parts[at];
    const auto before = at > 0 ? text_at(at - 1) : "", next = text_at(at + 1);
    const bool is_ending = before == "dot" && next != "dot" && next != "at" && is_spelled_ending(part.text);
    constexpr std::size_t kPort = 4, kLongestCount = 4;
    const bool is_port = before == "colon" && part.text.size() == kPort;
    const bool is_language = before == "slash" && next == "dot" && part.text.size() == 2 && at > 2 &&
                             text_at(at - 3) == "colon" &&
                             std::ranges::all_of(part.text, is_ascii_alphabetic);  // "//en."
    constexpr std::size_t kShort = 3;
    const bool is_initials = at == 0 && next == "at" && part.text.size() <= kShort &&
                             part.text.find_first_not_of("bcdfghjklmnpqrstvwxz") == part.text.npos;  // "hr@example.com"
    if (part.is_spelled || is_ending || is_language || is_initials)
      text.spell(part.text);
    else if (is_all_digits(part.text) && part.text.size() > kLongestCount)
      text.add_words(digit_words(part.text));
    else if (is_all_digits(part.text))
      text.add_words(may_be_year(part.text) || is_port ? paired_words(part.text) : cardinal_words(part.text));
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
  const bool is_read = read_sign(text) || read_hash(text) || read_date(text) || read_time(text) || read_weekday(text) ||
                       read_address_part(text) || read_telephone(text) || read_groups(text) || read_address(text) ||
                       read_money(text) || read_number(text) || read_roman(text) || read_short_form(text) ||
                       read_initials(text) || read_product(text);
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
