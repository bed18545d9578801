#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"
#include "text/speech/signs.h"
#include "text/speech/word_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool are_capitals(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_upper);
}

bool is_alphanumeric(char c) {
  return is_ascii_alphabetic(c) || is_ascii_digit(c);
}

/// Reads one word with signs in it.
class CompoundReader {
 public:
  CompoundReader(EnglishCursor& text, std::string_view word) : text_(text), word_(word) {}

  void read() {
    while (at_ < word_.size()) step();
    end_word();
    const bool is_product =
        word_.find('x') != word_.npos && is_ascii_digit(word_.front()) && is_ascii_digit(word_.back());
    if (has_power_ || is_product) read_unit_behind(text_, false);  // "4x100 m"
  }

 private:
  char before() const { return at_ > 0 ? word_[at_ - 1] : ' '; }
  std::string_view rest() const { return word_.substr(at_); }

  void step() {
    const char c = word_[at_];
    if (is_ascii_digit(c)) {
      end_word();
      at_ += read_digits_within(text_, word_.substr(0, at_), rest());
      return;
    }
    if (is_ascii_alphabetic(c) || c == '\'') {
      characters_ += c;
      ++at_;
      return;
    }
    end_word();
    if (c == '#' && read_color()) return;
    const auto sign = code_point_at(word_, at_);
    if (sign.value == kRaised || (c == '^' && (is_alphanumeric(before()) || before() == ')')))
      read_power(sign.size);
    else if (!read_currency())
      read_sign_within(sign);
  }

  /// "#FF8800": digit by digit.
  bool read_color() {
    constexpr std::size_t kSize = 6;
    const auto digits = rest().substr(1);
    const bool is_hex = digits.size() == kSize && digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
    const bool is_of_color = text_.has_word("color") || text_.has_word("colour") || text_.has_word("background");
    if (!is_hex || (is_all_digits(digits) && !is_of_color) || digits.find_first_of("0123456789") == digits.npos)
      return false;
    text_.add_words("hash");
    for (const char digit : digits)
      is_ascii_digit(digit) ? text_.add_words(digit_words({&digit, 1})) : text_.spell({&digit, 1});
    at_ = word_.size();
    return true;
  }

  void end_word() {
    while (characters_.ends_with('\'')) characters_.pop_back();
    // "CO2", "XML-based", but not "COVID-19", which the dictionary does not have, either
    constexpr std::size_t kShort = 3, kLongest = 4;
    const bool is_beside_digit = at_ < word_.size() && is_ascii_digit(word_[at_]);
    const bool is_short = characters_.size() < kShort && is_beside_digit && are_capitals(characters_);
    const bool is_behind_digit = at_ > characters_.size() && is_ascii_digit(word_[at_ - characters_.size() - 1]);
    if (characters_ == "x" && is_behind_digit && is_beside_digit)
      text_.add_words("by");  // "4x4"
    else if (characters_ == "m" && is_behind_digit && at_ == word_.size() && word_.find('x') != word_.npos)
      text_.add_words(text_.core(1).empty() || !text_.token(0)->behind.empty() ? "meters" : "meter");  // "4x400m relay"
    else if (characters_ == "'s" && is_behind_digit)
      text_.add_ending(characters_);  // "the V-6's"
    else if (is_short || is_of_code(is_behind_digit) || (characters_ == "A" && is_joined_to_code()) ||
             (characters_.size() <= kLongest && !is_read_as_word() && is_spelled(text_, characters_)))
      text_.spell(characters_);
    else if (is_before_power() && (characters_.size() == 1 || has_no_vowel(characters_)))
      text_.spell(characters_);  // "a^2", "mc^2"
    else if (!characters_.empty())
      add_word(characters_);
    characters_.clear();
  }

  /// "4JU" of a postal code: capitals that end a word behind a digit.
  bool is_of_code(bool is_behind_digit) const {
    constexpr std::size_t kLongest = 3;
    return is_behind_digit && at_ == word_.size() && characters_.size() <= kLongest && are_capitals(characters_);
  }

  /// "non-GAAP", but not the ending of a file.
  bool is_read_as_word() const { return before_word(characters_) != '.' && spoken_acronym(characters_); }

  /// The "A" of "Vitamin-A" and "A-10293", which is no article.
  bool is_joined_to_code() const {
    const bool is_before_number = at_ + 1 < word_.size() && word_[at_] == '-' && is_ascii_digit(word_[at_ + 1]);
    return before_word(characters_) == '-' || is_before_number;
  }

  bool is_before_power() const {
    return at_ < word_.size() && (word_[at_] == '^' || code_point_at(word_, at_).value == kRaised);
  }

  /// A word that no sign is in; names of code are read in their parts.
  void add_word(std::string_view word) {
    const std::string small = ascii_lower(word);
    const auto stem = word.substr(0, word.size() - std::min<std::size_t>(word.size(), 3));
    const auto one = std::string_view(small).substr(0, small.size() - (small.ends_with('s') ? 1 : 0));
    const auto parts = camel_parts(word);
    const bool is_short_form =
        word.size() > 1 && is_ascii_upper(word.front()) && before_word(word) == '-' && text_.token(0)->has_point();
    const auto state = is_short_form ? short_state(word) : std::nullopt;
    const auto form = state ? state : is_short_form ? long_form(word, true, false) : std::nullopt;
    const auto front = at_ - word.size();
    const bool is_behind_ordinal = before_word(word) == '-' && is_ordinal(word_.substr(0, front - 1)) &&
                                   text_.token(0)->has_point();  // "89th-min."
    const bool is_behind_number =
        is_behind_ordinal || (before_word(word) == '-' && front > 1 && is_ascii_digit(word_[front - 2]));
    const bool is_liter = small == "l" && at_ == word_.size() && text_.token(0)->behind.empty();  // "a 1.5-l bottle"
    const bool may_be_measure =
        is_behind_number && (word.size() > 1 || is_liter) && (small != "in" || text_.token(0)->has_point());
    const auto measure = may_be_measure ? unit_name(word, true) : std::nullopt;
    if (form)
      text_.add_words(*form);  // "D-Calif."
    else if (is_small_acronym(word))
      text_.spell(word);
    else if (word.size() > 2 && word.ends_with('s') && is_spelled(text_, word.substr(0, word.size() - 1)))
      add_several(word.substr(0, word.size() - 1));  // "IDs/passports"
    else if (measure)
      add_measure(*measure);                                                                 // "12-oz."
    else if (text_.knows(small) && !(has_no_vowel(small) && word_.find('_') != word_.npos))  // "timeout_ms"
      text_.add_words(small);
    else if (const auto spoken = spoken_acronym(ascii_upper(word)))
      text_.add_words(*spoken);
    else if (const auto unit = has_no_vowel(small) && !is_path() ? unit_name(word, false) : std::nullopt)
      text_.add_words(*unit);  // "in kg"
    else if (one.size() > 1 && one.size() < small.size() && text_.knows(one) && one.find_first_of("aeiou") == one.npos)
      text_.add_words(std::string(one) + "'s");  // "pdfs"
    else if (is_formula(word) || has_no_vowel(word))
      text_.spell(word);
    else if (small.ends_with("'ve") && text_.knows(ascii_lower(stem)))
      text_.add_words(ascii_lower(stem) + " have");  // "he'd've"
    else if (parts.size() > 1)
      for (const auto part : parts) add_part(part);
    else
      text_.add_words(small);
  }

  /// "a 9x13-in. pan": the point is the unit's.
  void add_measure(const std::string& unit) {
    text_.add_words(unit);
    if (at_ == word_.size()) text_.take_point();
  }

  /// Capitals that are spelled, in the plural.
  void add_several(std::string_view capitals) {
    text_.spell(capitals.substr(0, capitals.size() - 1));
    text_.add_words(ascii_lower(capitals.substr(capitals.size() - 1)) + "'s");
  }

  /// Whether the word is an address or the name of a file, which have no units.
  bool is_path() const { return word_.find_first_of("./_\\") != word_.npos; }

  /// The character before the word that ends here.
  char before_word(std::string_view word) const { return at_ > word.size() ? word_[at_ - word.size() - 1] : ' '; }

  void add_part(std::string_view part) {
    if (are_capitals(part) && (part.size() == 1 || is_spelled(text_, part)))
      text_.spell(part);
    else
      add_word(part);
  }

  /// "10\u207B\u00B3", "x^2": the power, and a unit behind it.
  void read_power(std::size_t size) {
    const bool is_raised = word_[at_] != '^';
    at_ += size;
    const bool is_negative = rest().starts_with('-');
    if (is_negative || rest().starts_with('+')) ++at_;
    const auto digits = rest().substr(0, std::min(rest().find_first_not_of("0123456789"), rest().size()));
    at_ += digits.size();
    if (is_raised && (digits.empty() ? !has_exponent() : rest() == "+" || rest() == "-")) {
      read_charge(digits, digits.empty() ? is_negative : rest() == "-");
      return;
    }
    has_power_ = true;
    if (is_raised && !is_negative && (digits == "2" || digits == "3")) {
      text_.add_words(digits == "2" ? "squared" : "cubed");
    } else {
      text_.add_words(std::string(is_raised ? "to the" : "to the power of") + (is_negative ? " minus" : ""));
      if (!digits.empty()) text_.add_words(cardinal_words(digits));
    }
    if (const auto unit = unit_name(rest(), false)) {
      text_.add_words(*unit);
      at_ = word_.size();
    }
  }

  /// Whether a character is the power: "x\u207F".
  bool has_exponent() const { return !rest().empty() && is_ascii_alphabetic(rest().front()); }

  /// "H\u207A" and "Ca\u00B2\u207A".
  void read_charge(std::string_view digits, bool is_negative) {
    if (!digits.empty()) ++at_;
    text_.add_words((digits.empty() ? "" : cardinal_words(digits) + " ") + (is_negative ? "minus" : "plus"));
  }

  /// "$1-a-day", "30$-ish", but not the "$" of a prompt.
  bool read_currency() {
    std::size_t size = 0;
    const Currency* currency = currency_at_front(rest(), size);
    if (!currency || is_ascii_alphabetic(word_[at_])) return false;
    const auto number = number_at_front(rest().substr(size));
    const bool is_alone = at_ == 0 && text_.has_words() && (size == word_.size() || word_[size] == '-');
    const bool is_last = at_ + size + number.size() == word_.size() && text_.token(0)->behind.empty();
    const bool is_one = number == "1" || (is_last && describes_noun(text_, "", 1));  // "a 2-for-$5 deal"
    if (!number.empty())
      text_.add_words(amount_words(without_commas(number), *currency, is_one));
    else if (is_ascii_digit(before()) || is_alone)
      text_.add_words(currency->many);
    else
      text_.leave_out(word_.substr(at_, size));
    at_ += size + number.size();
    return true;
  }

  void read_sign_within(const CodePoint& character) {
    const auto sign_text = word_.substr(at_, character.size);
    const Sign* sign = sign_at_front(rest());
    const auto size = sign ? sign->written.size() : character.size;
    const auto next = rest().substr(size);
    const bool is_behind_word = is_alphanumeric(before());
    const bool is_after_sign = at_ == 0 || !is_alphanumeric(before());
    const bool is_before_number = !number_at_front(next).empty();
    std::string_view words;
    if (const char c = word_[at_]; c == '-' && size == 1) {  // a minus, not a hyphen
      const bool is_of_initial = next.size() == 1 && is_ascii_alphabetic(next.front());
      constexpr std::size_t kShort = 3;  // "A-", "Cl-"
      const bool is_behind_short =
          next.empty() && word_.size() <= kShort && is_ascii_upper(word_.front()) && !joins_next();
      const auto left = word_.substr(0, at_);
      const bool is_of_zone = is_before_number && (left == "UTC" || left == "GMT");
      if (is_before_number && (left == "noon" || left == "midnight")) words = "to";  // "noon-4 p.m."
      if ((is_after_sign && (is_before_number || is_of_initial)) || is_behind_short || is_of_zone) words = "minus";
      if (at_ == 0 && !next.empty() && is_ascii_alphabetic(next.front()) && is_behind_command()) words = "dash";
    } else if (c == '.') {
      read_point(next);
    } else if (c == '/') {
      const auto left = word_.substr(0, at_);
      const bool is_one = left.size() == 1 || next.size() == 1;
      const bool is_number = is_all_digits(left) || is_all_digits(next);
      const bool is_rate = is_all_digits(left) && next.size() > 2 && std::ranges::all_of(next, is_ascii_alphabetic);
      const bool is_path = std::string_view("/~.").find(word_.front()) != std::string_view::npos;
      constexpr auto kTimes = std::to_array<std::string_view>(
          {"day", "week", "month", "year", "hour", "hr", "night", "minute", "min", "person"});
      const bool is_often = left.size() > 1 && left.back() == 's' && text_.before() &&  // "6 doses/day"
                            !number_at_front(text_.before()->core).empty() &&
                            std::ranges::find(kTimes, next) != kTimes.end();
      constexpr std::size_t kName = 3;
      const bool is_version = left.size() >= kName && are_capitals(left) && is_all_digits(next);
      words = is_path || is_version ? "slash"  // "/usr", "HTTP/2"
              : is_often            ? "per"
              : is_rate             ? "per"  // "2/customer"
              : is_one && is_number ? "divided by"
                                    : "";  // "x/2", but not "and/or"
    } else if (c == '(') {
      const bool is_name = at_ == 1 && is_ascii_alphabetic(before());
      words = is_name && !next.empty() && is_alphanumeric(next.front()) ? "of" : "";  // "f(x)"
    } else if (c == '#') {
      const bool is_initial = is_ascii_upper(before()) && (at_ < 2 || !is_alphanumeric(word_[at_ - 2]));
      const bool is_note = is_initial && (next.empty() || !is_alphanumeric(next.front()));  // "C#"
      const bool is_before_word = next.size() > 1 && is_ascii_alphabetic(next[1]) && !is_ascii_upper(next[1]);
      const bool is_before_code = at_ == 0 && !next.empty() && is_ascii_upper(next.front()) && !is_before_word &&
                                  next.find_first_of("0123456789") != next.npos;  // "#A-10293"
      words = is_before_number || is_before_code ? "number" : is_note ? "sharp" : "hash";
    } else if (c == '*' || c == '!') {
      words = {};
    } else if (c == '~' && !is_before_number) {
      words = "tilde";
    } else if (sign) {
      words = next.empty() ? sign->behind : is_behind_word || at_ > 0 ? sign->between : sign->before;
      if (words.empty()) words = sign->before;
      if (words.empty()) text_.leave_out(sign->written);
    } else if (c != ' ' && !is_silent(character.value) && character.value != kStroke) {
      text_.leave_out(sign_text);
    }
    if (!words.empty()) text_.add_words(words);
    if (std::string_view(",;:?!").find(word_[at_]) != std::string_view::npos) text_.add_mark(word_[at_]);
    at_ += size;
  }

  /// Whether the word is an option of a command: "ls -l", not "y = -x" or "the suffix -s".
  bool is_behind_command() const {
    constexpr auto kOthers = std::to_array<std::string_view>(
        {"is", "of", "by", "to", "and", "or", "equals", "suffix", "ending", "plus", "minus", "times"});
    const auto* before = text_.before();
    const bool is_word = before && !before->is_sign && before->behind.empty() && before->core.size() > 1 &&
                         is_ascii_alphabetic(before->core.back());
    return is_word && std::ranges::find(kOthers, text_.small_before()) == kOthers.end();
  }

  /// ".NET", "a.out", "end.Next".
  void read_point(std::string_view next) {
    if (at_ == 0 && next.size() > 1 && next.front() == '/') text_.add_words("dot");  // "./run"
    if (next.empty() || !is_alphanumeric(next.front())) return;
    const bool is_ordinal = has_ordinal_ending(next.substr(number_at_front(next).size()));  // ".12th"
    if (is_ascii_digit(next.front()) && !is_ordinal)
      text_.add_words(at_ == 0 || is_ascii_digit(before()) ? "point" : "dot");
    else if (is_ascii_digit(next.front()))
      return;
    else if (is_alphanumeric(before()) && is_ascii_upper(next.front()) && !is_capital_ending(next))
      text_.add_mark('.');
    else
      text_.add_words("dot");
  }

  /// "IMG_2041.JPG", not "end.Next".
  bool is_capital_ending(std::string_view next) const {
    constexpr std::size_t kMost = 4;
    return next.size() > 1 && next.size() <= kMost &&
           std::ranges::all_of(next, [](char c) { return is_ascii_upper(c) || is_ascii_digit(c); });
  }

  /// "X- and Y-axis": the hyphen is for a word that comes later.
  bool joins_next() const {
    const auto next = text_.core(1);
    return next == "and" || next == "or" || next == "to";
  }

  EnglishCursor& text_;
  std::string_view word_;
  std::size_t at_ = 0;
  std::string characters_{};
  bool has_power_ = false;
};

}  // namespace

bool is_spelled(const EnglishCursor& text, std::string_view word) {
  constexpr std::size_t kMostCapitals = 5;
  constexpr auto kAlsoWords = std::to_array<std::string_view>(
      {"IT",  "US",  "WHO", "ID",  "AI",  "AD", "PA",  "MA",  "OS",  "ER", "ET",  "LA",  "UN",  "LED", "MS",  "SAP",
       "MIA", "SAT", "ROI", "SEC", "IRA", "CT", "AKA", "FYI", "OT",  "ED", "RA",  "ENT", "EST", "NGO", "DEA", "DOE",
       "IDE", "AM",  "PI",  "TA",  "PO",  "MC", "SEO", "ASP", "IOS", "TI", "EN",  "CDS", "ADA", "CAD", "VAT", "COO",
       "ERA", "EU",  "AR",  "AU",  "COB", "EV", "UPS", "CIO", "MM",  "PS", "ABS", "ACT", "ENG", "EX",  "AHA"});
  if (!are_capitals(word) || word.size() < 2 || word.size() > kMostCapitals) return false;
  const auto* next = text.token(1);
  const bool is_joined = (next && next->is_tight && next->core == "&") ||  // "AT&T"
                         (text.before() && text.before()->core == "&" && text.token(0)->is_tight);
  if (is_joined || !text.knows(ascii_lower(word)) || has_no_vowel(ascii_lower(word))) return true;
  return !text.is_shouted() && std::ranges::find(kAlsoWords, word) != kAlsoWords.end();
}

void read_compound(EnglishCursor& text, std::string_view word) {
  if (word.find('-') != word.npos && text.knows(ascii_lower(word))) {
    text.add_words(ascii_lower(word));
    return;
  }
  if (const auto unit = word.starts_with("\u00B0") ? unit_name(word, false) : std::nullopt) {  // "in \u00B0C"
    text.add_words(*unit);
    return;
  }
  CompoundReader(text, word).read();
}

}  // namespace tutti
