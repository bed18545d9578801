#include "text/speech/text_parts.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/symbols.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// Whether a Greek character is a unit's, "5 \u03BCm" or "5 k\u03A9", and not a word's.
bool is_unit_sign(std::u32string_view text, std::size_t at) {
  const auto is_ascii = [](char32_t c) { return c < 0x80; };
  const bool is_micro = text[at] == U'\u00B5' || text[at] == U'\u03BC';
  const bool has_next = at + 1 < text.size();
  const bool is_next_latin = has_next && is_ascii(text[at + 1]) && std::isalpha(static_cast<int>(text[at + 1])) != 0;
  if (is_micro) return is_next_latin && (at == 0 || is_ascii_digit(text[at - 1]) || is_space(text[at - 1]));
  const auto before =
      at > 0 && std::u32string_view(U"kMGm").find(text[at - 1]) != std::u32string_view::npos ? at - 1 : at;
  return (!has_next || (is_ascii(text[at + 1]) && !is_next_latin)) && before > 0 &&
         (is_ascii_digit(text[before - 1]) || is_space(text[before - 1]));
}

/// An en dash as in "10–20", or before a number that no other is before: "–3".
bool is_minus_or_range(std::u32string_view text, std::size_t at) {
  constexpr std::u32string_view kCurrencies = U"$€£¥₹₩₽";
  if (at + 1 >= text.size()) return false;
  if (!is_ascii_digit(text[at + 1]) && kCurrencies.find(text[at + 1]) == kCurrencies.npos) return false;
  if (at == 0 || is_ascii_digit(text[at - 1]) || text[at - 1] == U'(') return true;
  return is_space(text[at - 1]) && (at == 1 || !is_ascii_digit(text[at - 2]));
}

/// Characters that mean the same as others, and those that part words, as the tokens have them.
std::u32string usual_signs(std::u32string_view text) {
  std::u32string prepared;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (const char32_t c = text[i]) {
      case U'\u2018':
      case U'\u2019':
      case U'\u02BC': prepared += U'\''; break;
      case U'\u2212': prepared += i + 1 < text.size() && is_space(text[i + 1]) ? U"minus" : U"-"; break;
      case U'\u00B5':
      case U'\u03BC': prepared += is_unit_sign(text, i) ? U"micro" : std::u32string(1, c); break;
      case U'\u2126':
      case U'\u03A9': prepared += is_unit_sign(text, i) ? U"ohm" : std::u32string(1, c); break;
      case U'\u2013':
        if (is_minus_or_range(text, i)) {
          prepared += U'-';
          break;
        }
        [[fallthrough]];
      case U'\u2014':
      case U'\u2015': prepared += U" \u2014 "; break;
      case U'\u2026': prepared += U"... "; break;
      case U'\u00B2': prepared += U" squared "; break;
      case U'\u00B3': prepared += U" cubed "; break;
      case U'\u00BD':
      case U'\u00BC':
      case U'\u00BE': prepared += U' '; [[fallthrough]];
      default: prepared += c;
    }
  }
  return prepared;
}

constexpr std::u32string_view kKept = U"!\"#$%&'()*+,-./:;=?@[]^_{}\u2014\u2044€£¥¢₹₩₽°×÷±";

void name_skipped(char32_t c, std::set<std::string>& skipped) {
  std::string character;
  append_utf8(character, c);
  skipped.insert(character);
}

/// The text in ASCII, with the signs that are read; what is left out of it goes into `skipped`.
std::u32string plain_signs(std::string_view text, std::set<std::string>& skipped) {
  const auto prepared = usual_signs(to_code_points(text));
  for (const char32_t c : prepared)
    if (c >= 0x80 && class_of(c) == GeneralClass::symbol && kKept.find(c) == kKept.npos && nfkc({&c, 1})[0] == c)
      name_skipped(c, skipped);
  std::u32string plain;
  for (const char32_t c : remove_symbols_and_diacritics(prepared, kKept)) {
    if (c < 0x80 || kKept.find(c) != kKept.npos) {
      plain += c == U'\u2044' ? U'/' : c;
      continue;
    }
    plain += U' ';
    if (!is_space(c)) name_skipped(c, skipped);
  }
  return plain;
}

/// Takes the marks behind a token off it.
EnglishToken token_of(std::string word) {
  EnglishToken token;
  constexpr std::string_view kOpening = "\"'([{*", kClosing = "\"'*)]}.,;:?!";
  while (!word.empty() && kOpening.find(word.front()) != kOpening.npos) {
    // 'tis and '80s keep theirs
    const bool is_apostrophe = word.front() == '\'' && word.size() > 1 &&
                               (is_ascii_digit(word[1]) || word.starts_with("'tis") || word.starts_with("'twas"));
    if (is_apostrophe) break;
    token.is_opened |= word.front() == '(' || word.front() == '[' || word.front() == '{';
    word.erase(0, 1);
  }
  std::size_t end = word.size();
  while (end > 0 && kClosing.find(word[end - 1]) != kClosing.npos) --end;
  for (const char mark : word.substr(end)) {
    if (mark == ']' || mark == '}') token.behind += ')';
    if (mark != ']' && mark != '}' && mark != '"' && mark != '\'' && mark != '*') token.behind += mark;
  }
  word.resize(end);
  token.core = std::move(word);
  return token;
}

/// Tokens of text in ASCII and a few signs.
void add_tokens(std::u32string_view text, std::vector<EnglishToken>& tokens) {
  const bool is_equation = text.find(U'=') != text.npos;
  for (const auto word : split_at_spaces(text)) {
    const bool is_minus = word == U"-" && is_equation && !tokens.empty() && tokens.back().behind.empty() &&
                          !tokens.back().core.empty() &&
                          (tokens.back().core.size() == 1 || is_ascii_digit(tokens.back().core.back()));
    if (is_minus) {  // "3 - 4 = -1"
      tokens.push_back({.core = "minus"});
      continue;
    }
    if (word == U"\u2014" || word == U"-" || word == U"--") {
      if (!tokens.empty()) tokens.back().behind += ',';
      continue;
    }
    // "--" parts words, as a dash does
    const std::string whole = to_utf8(word);
    std::string_view rest = whole;
    while (!rest.empty()) {
      const auto dash = rest.find("--");
      EnglishToken token = token_of(std::string(rest.substr(0, dash)));
      if (dash != rest.npos) token.behind += ',';
      rest.remove_prefix(dash == rest.npos                                ? rest.size()
                         : rest.find_first_not_of('-', dash) == rest.npos ? rest.size()
                                                                          : rest.find_first_not_of('-', dash));
      if (!token.core.empty())
        tokens.push_back(std::move(token));
      else if (!tokens.empty())
        tokens.back().behind += token.behind;
    }
  }
}

}  // namespace

std::vector<IpaPart> split_ipa(std::string_view text) {
  std::vector<IpaPart> parts;
  while (!text.empty()) {
    const auto open = text.find("[["), close = open == text.npos ? text.npos : text.find("]]", open);
    if (close == text.npos) break;
    if (open > 0) parts.push_back({text.substr(0, open)});
    parts.push_back({text.substr(open + 2, close - open - 2), true});
    text.remove_prefix(close + 2);
  }
  if (!text.empty()) parts.push_back({text});
  return parts;
}

Result<void> check_ipa_brackets(std::string_view text) {
  const auto parts = split_ipa(text);
  if (parts.empty() || parts.back().is_ipa) return {};
  const auto open = parts.back().text.find("[[");
  if (open == std::string_view::npos) return {};
  constexpr std::size_t kShown = 40;
  return fail(Fault::usage, "'" + std::string(parts.back().text.substr(open, kShown)) +
                                "': expected ']]' behind the IPA, found the text's end");
}

std::vector<EnglishToken> english_tokens(std::string_view text, std::set<std::string>& skipped) {
  std::vector<EnglishToken> tokens;
  for (const auto& part : split_ipa(text)) {
    if (part.is_ipa)
      tokens.push_back({.core = std::string(part.text), .is_ipa = true});
    else
      add_tokens(plain_signs(part.text, skipped), tokens);
  }
  return tokens;
}

}  // namespace tutti
