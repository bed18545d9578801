#include "text/speech/text_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/sign_cuts.h"
#include "text/speech/signs.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// Takes the marks behind a token off it.
EnglishToken token_of(std::string word) {
  EnglishToken token;
  constexpr std::string_view kOpening = "\"'([{*", kClosing = "\"'*)]}.,;:?!";
  constexpr std::size_t kShortest = 3;  // of words, not of the function in "f(s)"
  constexpr std::string_view kPlural = "(s)";
  const auto plural = word.find(kPlural);
  const bool is_plural = plural != word.npos && plural >= kShortest &&
                         std::ranges::all_of(std::string_view(word).substr(0, plural), is_ascii_alphabetic);
  if (is_plural) word.replace(plural, kPlural.size(), "s");  // "item(s)"
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

/// The sign that a text begins with, and the stroke through it; empty where it begins with none.
std::string_view sign_of(std::string_view text) {
  static const std::string stroke = to_utf8(std::u32string(1, kStroke));
  const Sign* sign = sign_at_front(text);
  if (!sign) return {};
  const auto size = sign->written.size();
  return text.substr(0, text.substr(size).starts_with(stroke) ? size + stroke.size() : size);
}

/// The name in "<b>", which the text had as "&lt;b&gt;"; empty for other words.
std::string_view name_in_brackets(std::string_view word) {
  const auto end = word.find_last_not_of(".,;:?!");
  if (end == word.npos || end < 2 || word.front() != '<' || word[end] != '>') return {};
  const auto name = word.substr(1, end - 1);
  return std::ranges::all_of(name, [](char c) { return is_ascii_alphabetic(c) || c == '/'; }) ? name : "";
}

/// A long option of a command.
bool is_option(std::string_view word) {
  return word.starts_with("--") && word.size() > 3 && is_ascii_alphabetic(word[2]) &&
         ascii_lower(word.substr(0, word.find('='))) == word.substr(0, word.find('=')) &&
         word.find("--", 2) == word.npos;
}

/// What is behind the number of an amount: "\u00B0F" of "300\u00B0F".
std::string_view unit_of(std::string_view word) {
  return word.substr(number_at_front(word).size());
}

bool is_amount_of_money(std::string_view word) {
  std::size_t size = 0;
  return currency_at_front(word, size) && !number_at_front(word.substr(size)).empty();
}

/// "10/17": what may be a day in figures.
bool is_day_in_figures(std::string_view text) {
  const auto parts = split(text, '/');
  const auto is_part = [](std::string_view part) { return is_all_digits(part) && part.size() < 3; };
  return parts.size() == 2 && std::ranges::all_of(parts, is_part);
}

/// Whether a dash between two words is "to": "Monday - Friday", "7 AM - 9 PM", "May - July", "30 - Nov. 2".
bool is_range_of_days(std::string_view first, std::string_view second) {
  const auto time = clock_time(first, false);
  const bool begins_with_time =
      (half_of_day(first) || (time && !time->half.empty())) && !number_at_front(second).empty();
  return begins_with_time || (weekday_name(first) && weekday_name(second)) ||
         (is_day_in_figures(first) && is_day_in_figures(second)) ||
         ((month_name(first) || is_all_digits(first)) && month_name(second));
}

/// How much of a word is one of its own before a slash: the "w/" of "w/Matt", the "60\u00B0C" of
/// "60\u00B0C/140\u00B0F".
std::size_t size_of_own_word(std::string_view word) {
  constexpr std::size_t kWith = 2, kShort = 3;
  const auto slash = word.find('/');
  if (slash == word.npos || slash + 1 == word.size()) return 0;
  const auto behind = word.substr(slash + 1);
  const bool is_with = slash == 1 && word.front() == 'w' && std::ranges::all_of(behind, is_ascii_alphabetic) &&
                       (is_ascii_upper(behind.front()) || behind.size() > kShort);  // not "w/o" or "w/in"
  if (is_with) return kWith;
  const auto is_degrees = [](std::string_view text) {
    const auto unit = unit_of(text);
    return unit.size() < text.size() && unit.starts_with("\u00B0") && unit.find('/') == unit.npos;
  };
  return is_degrees(word.substr(0, slash)) && is_degrees(behind) ? slash : 0;
}

/// Cuts a text into tokens.
class Tokenizer {
 public:
  explicit Tokenizer(std::u32string_view text) {
    for (const auto word : split_at_spaces(text)) {
      const bool is_begun = !words_.empty() && words_.back().size() == 1 && word == U"=" &&
                            std::string_view("!<>=").find(words_.back()[0]) != std::string_view::npos;
      if (is_begun)
        words_.back() += '=';  // "a ! = b"
      else
        add_parted(to_utf8(word));
    }
    is_equation_ = std::ranges::any_of(words_, [](std::string_view word) {
      return has_relation(word) || word == "+" || word == "*" || word == "\u00D7" || word == "\u00F7";
    });
  }

  void add_to(std::vector<EnglishToken>& tokens) {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      if (words_[at_] == "\u2014" || words_[at_] == "-" || words_[at_] == "--")
        add_dash(tokens);
      else
        add_word(words_[at_], tokens);
    }
  }

 private:
  /// "first...second" is two words.
  void add_parted(std::string word) {
    constexpr std::string_view kEllipsis = "...";
    const auto at = word.find(kEllipsis);
    const auto end = at == word.npos ? at : word.find_first_not_of('.', at);
    if (end == word.npos || at == 0 || !is_ascii_alphabetic(word[end]) || word.find('/') != word.npos) {
      words_.push_back(std::move(word));
      return;
    }
    words_.push_back(word.substr(0, end));
    add_parted(word.substr(end));
  }

  std::string_view word_behind() const { return at_ + 1 < words_.size() ? std::string_view(words_[at_ + 1]) : ""; }

  /// "3 - 4 = -1", "10 - 3", "10 - 20", or a pause.
  void add_dash(std::vector<EnglishToken>& tokens) {
    if (tokens.empty()) return;
    EnglishToken& before = tokens.back();
    const auto next = token_of(std::string(word_behind())).core;
    const bool are_amounts = before.behind.empty() && !before.is_sign && !number_at_front(before.core).empty() &&
                             !number_at_front(next).empty() && !unit_of(next).empty();
    const bool is_of_days = before.behind.empty() && is_range_of_days(before.core, next);
    const bool is_of_money = before.behind.empty() && is_amount_of_money(before.core) && is_amount_of_money(next);
    if ((are_amounts && unit_of(before.core) == unit_of(next)) || is_of_days ||
        is_of_money) {  // "300\u00B0F \u2013 325\u00B0F"
      tokens.push_back({.core = "to"});
      return;
    }
    if (words_[at_] == "-" && before.behind.empty() && !before.is_sign && !before.core.empty()) {
      const auto first = value_of(before.core), second = value_of(next);
      const bool is_minus = is_equation_ ? before.core.size() == 1 || is_ascii_digit(before.core.back())
                                         : first && second && *first > *second;
      if (is_minus || (first && second && *first < *second)) {
        tokens.push_back({.core = is_minus ? "minus" : "to"});
        return;
      }
    }
    before.behind += ',';
  }

  /// 27" is "27in" and 6' is "6ft", where no quotation ends there.
  void write_length_out(std::string& word) {
    const bool is_quoted = quotes_ % 2 == 1;
    has_quote_ |= word.starts_with('\'');
    // the mark of the length may have others behind it: 6".
    const auto end = word.find_last_not_of(".,;:!?)");
    const auto size = end == word.npos ? 0 : end + 1;
    const auto digits = std::string_view(word).substr(0, std::max<std::size_t>(size, 1) - 1);
    const auto slash = digits.find('/');
    const auto above = digits.substr(0, std::min(slash, digits.size()));
    const auto dash = above.find('-');  // 19-3/4"
    const bool is_fraction = slash != digits.npos && is_all_digits(above.substr(dash == above.npos ? 0 : dash + 1)) &&
                             is_all_digits(digits.substr(slash + 1));
    const bool is_number = (value_of(digits).has_value() && is_ascii_digit(digits.back())) || is_fraction;
    if (is_number && word[size - 1] == '"' && !is_quoted) word.replace(size - 1, 1, "in");
    if (is_number && word[size - 1] == '\'' && !has_quote_) word.replace(size - 1, 1, "ft");
    const auto height = digits.find('\'');  // 6'4" is no quotation
    const bool is_height = height != digits.npos && is_all_digits(digits.substr(0, height)) &&
                           is_all_digits(digits.substr(height + 1)) && word[size - 1] == '"';
    if (!is_height) quotes_ += std::ranges::count(word, '"');
  }

  /// A word, which "--" parts as a dash does.
  void add_word(std::string whole, std::vector<EnglishToken>& tokens) {
    write_length_out(whole);
    if (whole == "'n'" || whole == "'n") whole = "and";  // "rock 'n' roll"
    if (const auto arrow = whole.find("-->"); arrow != whole.npos) whole.erase(arrow, 1);
    std::string_view rest = whole;
    if (is_option(whole)) {  // "--verbose"
      tokens.push_back({.core = "dash"});
      tokens.push_back({.core = "dash"});
      rest.remove_prefix(2);
    }
    constexpr std::size_t kDecrement = 3;  // "i--" of code
    if (rest.size() >= kDecrement && is_ascii_alphabetic(rest.front()) && rest.substr(1, 2) == "--" &&
        rest.find_first_not_of(".,;:)", kDecrement) == rest.npos) {
      tokens.push_back({.core = std::string(rest.substr(0, 1))});
      tokens.push_back({.core = "minus"});
      tokens.push_back({.core = "minus", .behind = std::string(rest.substr(kDecrement))});
      return;
    }
    bool is_tight = false;
    while (!rest.empty()) {
      const auto dash = rest.find("--");
      add_pieces(rest.substr(0, dash), is_tight, tokens);
      if (dash == rest.npos) return;
      if (!tokens.empty()) tokens.back().behind += ',';
      rest.remove_prefix(std::min(rest.find_first_not_of('-', dash), rest.size()));
    }
  }

  void add_pieces(std::string_view word, bool is_tight, std::vector<EnglishToken>& tokens) {
    const bool is_whole_sign = !word.empty() && sign_of(word) == word;
    if (is_whole_sign) return add_lone_sign(word, tokens);
    if (!address_parts(word).empty()) return add_token(word, is_tight, tokens);
    if (const auto name = name_in_brackets(word); !name.empty()) return add_token(name, is_tight, tokens);
    const std::string_view before = at_ > 0 ? std::string_view(words_[at_ - 1]) : "";
    const SignedWord here{word, begins_with_relation(before) || begins_with_relation(word_behind())};
    std::size_t begin = 0;
    for (std::size_t at = 0; at < word.size();) {
      const auto sign = sign_of(word.substr(at));
      if (sign.empty() || !is_cut_at(here, at, sign)) {
        at += sign.empty() ? code_point_at(word, at).size : sign.size();
        continue;
      }
      add_token(word.substr(begin, at - begin), is_tight, tokens);
      tokens.push_back({.core = std::string(sign), .is_sign = true, .is_tight = is_tight || at > 0});
      at += sign.size();
      begin = at;
      is_tight = true;
    }
    add_token(word.substr(begin), is_tight, tokens);
  }

  /// A sign between blanks. "*" is one between numbers; else it is an item's of a list, or emphasis.
  void add_lone_sign(std::string_view sign, std::vector<EnglishToken>& tokens) {
    if (sign == "!" || sign == "\u00B7" || sign == "*") {
      const bool is_between = !tokens.empty() && is_operand(tokens.back()) &&
                              (is_operand(token_of(std::string(word_behind()))) || word_behind().starts_with('('));
      if (sign == "!" && !tokens.empty()) tokens.back().behind += sign;
      if (sign == "!" || !is_between) return;
    }
    tokens.push_back({.core = std::string(sign), .is_sign = true});
  }

  void add_token(std::string_view piece, bool is_tight, std::vector<EnglishToken>& tokens) {
    if (piece.empty()) return;
    if (const auto front = size_of_own_word(piece); front > 0) {
      tokens.push_back({.core = std::string(piece.substr(0, front)), .is_tight = is_tight});
      piece.remove_prefix(piece.substr(0, front).ends_with('/') ? front : front + 1);
    }
    const auto point = piece.find('.');
    const bool has_short_form = point != piece.npos && point + 1 < piece.size() && is_ascii_digit(piece[point + 1]) &&
                                std::ranges::all_of(piece.substr(0, point), is_ascii_alphabetic) &&
                                long_form(piece.substr(0, point), true, false);
    if (has_short_form) {  // "No.5"
      tokens.push_back({.core = std::string(piece.substr(0, point)), .behind = ".", .is_tight = is_tight});
      piece.remove_prefix(point + 1);
    }
    EnglishToken token = token_of(std::string(piece));
    token.is_tight = is_tight;
    const bool is_factorial = token.behind == "!" && value_of(token.core) && is_equation_;
    if (!token.core.empty()) {
      if (is_factorial) token.behind.clear();
      tokens.push_back(std::move(token));
      if (is_factorial) tokens.push_back({.core = "!", .is_sign = true, .is_tight = true});
    } else if (!tokens.empty()) {
      tokens.back().behind += token.behind;
    }
  }

  std::vector<std::string> words_{};
  bool is_equation_ = false;
  std::size_t at_ = 0;
  std::ptrdiff_t quotes_ = 0;
  bool has_quote_ = false;  // a single one
};

}  // namespace

bool is_operand(const EnglishToken& token) {
  if (token.is_sign || token.is_ipa || token.core.empty()) return false;
  const char last = token.core.back();
  return is_ascii_digit(last) || is_ascii_digit(token.core.front()) || is_variable(token.core) ||
         token.behind.starts_with(')');
}

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
      Tokenizer(plain_signs(part.text, skipped)).add_to(tokens);
  }
  return tokens;
}

}  // namespace tutti
