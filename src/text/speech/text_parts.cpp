#include "text/speech/text_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "text/code_points.h"
#include "text/symbols.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool is_figure(char32_t c) {
  return c >= U'0' && c <= U'9';
}

/// Characters that mean the same as others, and those that part words, as the tokens have them.
std::u32string usual_signs(std::u32string_view text) {
  std::u32string prepared;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (const char32_t c = text[i]) {
      case U'\u2018':
      case U'\u2019':
      case U'\u02BC': prepared += U'\''; break;
      case U'\u2212': prepared += U'-'; break;
      case U'\u2013':  // "10–20" is a range
        if (i > 0 && i + 1 < text.size() && is_figure(text[i - 1]) && is_figure(text[i + 1])) {
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

constexpr std::u32string_view kKept = U"!\"#$%&'()*+,-./:;=?@[]_{}\u2014\u2044€£¥¢°×÷±";

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
    const bool is_apostrophe =
        word.front() == '\'' && word.size() > 1 &&
        (is_figure(static_cast<unsigned char>(word[1])) || word.starts_with("'tis") || word.starts_with("'twas"));
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
  for (const auto word : split_at_spaces(text)) {
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
