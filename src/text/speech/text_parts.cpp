#include "text/speech/text_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/signs.h"
#include "text/utf8.h"

namespace tutti {
namespace {

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

/// The sign that a text begins with, and the stroke through it; empty where it begins with none.
std::string_view sign_of(std::string_view text) {
  static const std::string stroke = to_utf8(std::u32string(1, kStroke));
  const Sign* sign = sign_at_front(text);
  if (!sign) return {};
  const auto size = sign->written.size();
  return text.substr(0, text.substr(size).starts_with(stroke) ? size + stroke.size() : size);
}

bool begins_with_relation(std::string_view text) {
  const Sign* sign = sign_at_front(text);
  return sign && is_relation(*sign);
}

bool has_relation(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at)
    if (begins_with_relation(text.substr(at))) return true;
  return false;
}

/// The value of a number without a sign; none for other text.
std::optional<double> value_of(std::string_view number) {
  std::string plain(number);
  std::erase(plain, ',');
  double value = 0;
  const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  const bool is_number = !plain.empty() && is_ascii_digit(plain.front()) && read.ptr == plain.data() + plain.size();
  return is_number ? std::optional(value) : std::nullopt;
}

bool is_variable(std::string_view text) {
  return text.size() == 1 && is_ascii_alphabetic(text.front());
}

/// A word, and what is beside it.
struct Word {
  std::string_view text;
  bool is_beside_relation = false;
};

/// What is right before a sign, and right behind it: what it calculates with.
std::string_view last_part(std::string_view left) {
  const auto at = left.find_last_of("=<>(+*^");
  return at == left.npos ? left : left.substr(at + 1);
}

std::string_view first_part(std::string_view right) {
  return right.substr(0, right.find_first_of("=<>!,.;:?)+*^"));
}

/// Whether "-" and "/" calculate in a word such as "5-3" or "a/b".
bool calculates(const Word& word, char sign, std::string_view left, std::string_view right) {
  const bool is_at_bracket = left.ends_with(')') || right.starts_with('(');
  const auto before = last_part(left), behind = first_part(right);
  const auto first = value_of(before), second = value_of(behind);
  const bool is_before = is_variable(before) || first || left.ends_with(')');
  const bool is_behind = is_variable(behind) || second || right.starts_with('(');
  if (is_at_bracket) return is_before && is_behind;
  if (!has_relation(word.text) && !word.is_beside_relation) return false;
  if (left.find(sign, 1) != left.npos || behind.find(sign, 1) != behind.npos) return false;  // "2024-03-15"
  if (!first || !second) return is_before && is_behind;
  if (sign == '/') return *first >= *second;  // "1/2 = 0.5" is a fraction
  return has_relation(right) || *first > *second;
}

/// "2.5e+3" and "08:00+02:00": the sign of a power of ten, or of a zone of time.
bool is_of_number(std::string_view left, std::string_view right) {
  if (left.find(':') != left.npos) return true;
  const bool has_e = left.ends_with('e') || left.ends_with('E');
  return has_e && left.size() > 1 && is_ascii_digit(left[left.size() - 2]) && !right.empty() &&
         is_ascii_digit(right[0]);
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a word is cut around a sign within it, so that what is beside the sign is read as a word of its own.
bool is_cut_at(const Word& word, std::size_t at, std::string_view sign) {
  constexpr auto kPartsOfWords =
      std::to_array<std::string_view>({"#", "@", "%", "\\", "^", "++", "\u00B0", "\u00A2", "\u2030", "\u00AE"});
  const auto left = word.text.substr(0, at), right = word.text.substr(at + sign.size());
  const Sign& known = *sign_at_front(sign);
  if (is_relation(known)) return true;
  if (right.empty() || std::ranges::find(kPartsOfWords, sign) != kPartsOfWords.end()) return false;
  const char before = left.empty() ? ' ' : left.back(), next = right.front();
  const bool is_number_behind = !number_at_front(right).empty();
  if (left.empty() || before == '(') {  // before what it belongs to
    if (sign == "!") return is_ascii_alphabetic(next) || next == '(';
    if (sign == "~") return is_number_behind || next == '$' || is_beyond_ascii(next);
    return !known.before.empty() &&
           (sign.size() > 1 || std::string_view("+-&").find(sign.front()) == std::string_view::npos);
  }
  const bool is_behind = is_ascii_alphabetic(before) || is_ascii_digit(before) || before == ')' || before == ']' ||
                         is_beyond_ascii(before);
  const bool is_ahead = is_ascii_alphabetic(next) || is_number_behind || next == '(' || next == '$' ||
                        is_beyond_ascii(next) || (next == '-' && !number_at_front(right.substr(1)).empty());
  if (!is_behind || !is_ahead || known.between.empty() || is_of_number(left, right)) return false;
  if (sign == "-" || sign == "/") return calculates(word, sign.front(), left, right);
  const bool is_of_unit = (sign == "\u00B7" || sign == "\u22C5") && is_ascii_alphabetic(before);
  return !is_of_unit;
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

/// Whether a dash between two words is "to": "Monday - Friday", "7 AM - 9 PM", "May - July", "30 - Nov. 2".
bool is_range_of_days(std::string_view first, std::string_view second) {
  const auto time = clock_time(first, false);
  const bool begins_with_time =
      (half_of_day(first) || (time && !time->half.empty())) && !number_at_front(second).empty();
  return begins_with_time || (weekday_name(first) && weekday_name(second)) ||
         ((month_name(first) || is_all_digits(first)) && month_name(second));
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
    const Word here{word, begins_with_relation(before) || begins_with_relation(word_behind())};
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
