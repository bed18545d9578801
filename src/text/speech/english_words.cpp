#include "text/speech/english_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/figure_groups.h"
#include "text/speech/number_words.h"
#include "text/speech/text_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Kind = ReadAloud::Kind;

constexpr std::string_view kAllFigures = "0123456789";

bool is_figure(char c) {
  return c >= '0' && c <= '9';
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_english_character(char c) {
  return is_capital(c) || (c >= 'a' && c <= 'z');
}

bool are_figures(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_figure);
}

/// Whether `text` is capitals only, and how it ends does not matter.
bool are_capitals(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_capital);
}

std::string without_commas(std::string_view figures) {
  std::string plain(figures);
  std::erase(plain, ',');
  return plain;
}

/// A number at the front of `text`: "12", "1,234", "3.14", ".5"; empty where there is none.
std::string_view number_at_front(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_figure(text[end])) ++end;
  const bool in_groups = end >= 1 && end <= 3;
  const auto is_group = [&](std::size_t at) {
    return at + 3 < text.size() && text[at] == ',' && are_figures(text.substr(at + 1, 3)) &&
           (at + 4 == text.size() || !is_figure(text[at + 4]));
  };
  while (in_groups && is_group(end)) end += 4;
  if (end + 1 < text.size() && text[end] == '.' && is_figure(text[end + 1])) {
    ++end;
    while (end < text.size() && is_figure(text[end])) ++end;
  }
  return text.substr(0, end);
}

bool may_be_year(std::string_view figures) {
  constexpr std::size_t kFigures = 4;
  return figures.size() == kFigures && are_figures(figures) && figures >= "1100" && figures <= "2099";
}

/// What a reader reads aloud of tokens of English, token by token.
class EnglishReader {
 public:
  EnglishReader(std::vector<EnglishToken> tokens, const KnowsWord& knows) : tokens_(std::move(tokens)), knows_(knows) {}

  std::vector<ReadAloud> read() {
    while (at_ < tokens_.size()) {
      const std::size_t first = at_;
      if (tokens_[at_].is_opened) add_mark(',');
      read_token();
      // Several tokens of one date or amount: the marks behind the last one count.
      at_ = std::max(at_, first) + 1;
      add_marks(tokens_[at_ - 1]);
    }
    return std::move(out_);
  }

 private:
  const EnglishToken* token(std::size_t ahead) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  std::string_view core(std::size_t ahead) const {
    const EnglishToken* one = token(ahead);
    return one && !one->is_ipa ? std::string_view(one->core) : std::string_view();
  }
  /// "St. Paul", not "Baker St., London".
  bool next_is_name() const {
    const bool is_next_near = token(0)->behind.find_first_not_of('.') == std::string::npos;
    return is_next_near && !core(1).empty() && is_capital(core(1).front());
  }

  void add_words(std::string_view words) {
    for (const auto word : split(words, ' ')) out_.push_back({Kind::word, std::string(word)});
  }
  void add_mark(char mark) {
    constexpr std::string_view kByStrength = ",:;.!?";
    if (out_.empty()) return;
    if (out_.back().kind != Kind::mark) {
      out_.push_back({Kind::mark, std::string(1, mark)});
    } else if (kByStrength.find(mark) > kByStrength.find(out_.back().text.front())) {
      out_.back().text = std::string(1, mark);
    }
  }
  void add_marks(const EnglishToken& behind) {
    for (const char mark : behind.behind) {
      if (mark == '.' && is_point_read_) continue;
      add_mark(mark == ')' ? ',' : mark);
    }
    is_point_read_ = false;
  }
  /// The point behind the token is of its short form, unless the text ends there.
  void take_point() { is_point_read_ = token(0)->has_point() && at_ + 1 < tokens_.size(); }
  void spell(std::string_view characters) {
    for (const char character : characters)
      if (is_english_character(character)) out_.push_back({Kind::initial, ascii_lower(std::string(1, character))});
  }

  void read_token() {
    if (tokens_[at_].is_ipa) {
      out_.push_back({Kind::ipa, tokens_[at_].core});
      return;
    }
    if (read_date() || read_time() || read_weekday() || read_telephone() || read_groups() || read_address() ||
        read_money() || read_number() || read_roman() || read_short_form() || read_initials())
      return;
    read_compound(core(0));
  }

  /// "May 5, 1863", "Nov. 3", "5 May 1863", "1863-05-01", "5/1/1863", "1.5.1863".
  bool read_date() {
    if (const auto month = month_name(core(0))) return read_month_first(*month);
    if (const auto month = month_name(core(1)); month && is_day(core(0)) && !token(0)->has_point()) {
      const bool has_article = !out_.empty() && out_.back().text == "the";
      add_words((has_article ? "" : "the ") + ordinal_words(day_of(core(0))) + " of " + std::string(*month));
      ++at_;
      read_year_behind();
      return true;
    }
    return read_figures_of_date();
  }
  bool read_month_first(std::string_view month) {
    const bool is_full = ascii_lower(core(0)) == month;
    const bool has_day = is_day(core(1)), has_year = may_be_year(core(1));
    // "Mar" and "Sun" alone may be anything; "May" and "March" are words.
    if (!is_full && !token(0)->has_point() && !has_day && !has_year) return false;
    if (!is_full) take_point();
    add_words(month);
    if (has_day && (is_full || token(0)->behind.empty() || token(0)->has_point())) {
      ++at_;
      add_words(ordinal_words(day_of(core(0))));
    }
    is_point_read_ = is_point_read_ && !has_day;
    read_year_behind();
    return true;
  }
  void read_year_behind() {
    const auto& behind = token(0)->behind;
    if (!may_be_year(core(1)) || !(behind.empty() || behind == "," || is_point_read_)) return;
    add_marks(*token(0));
    ++at_;
    add_words(year_words(core(0)));
  }
  static bool is_day(std::string_view word) {
    const auto figures = day_of(word);
    return are_figures(figures) && figures.size() <= 2 && figures != "0" && figures != "00" &&
           (figures.size() == 1 || figures <= "31") && figures.front() != '0';
  }
  static std::string_view day_of(std::string_view word) {
    for (const std::string_view end : {"st", "nd", "rd", "th"})
      if (word.ends_with(end)) return word.substr(0, word.size() - end.size());
    return word;
  }
  bool read_figures_of_date() {
    const auto separator = core(0).find_first_of("-/.");
    if (separator == std::string_view::npos) return false;
    const auto parts = split(core(0), core(0)[separator]);
    if (parts.size() != 3 || !std::ranges::all_of(parts, are_figures)) return false;
    const bool year_first = parts[0].size() == 4, day_first = core(0)[separator] == '.' && !year_first;
    const auto year = year_first ? parts[0] : parts[2];
    const auto month = year_first || day_first ? parts[1] : parts[0];
    const auto day = year_first ? parts[2] : day_first ? parts[0] : parts[1];
    if (month.size() > 2 || day.size() > 2 || year.size() != 4) return false;
    const int month_number = std::stoi(std::string(month)), day_number = std::stoi(std::string(day));
    if (month_number < 1 || month_number > 12 || day_number < 1 || day_number > 31) return false;
    add_words(month_name(month_number));
    add_words(ordinal_words(std::to_string(day_number)));
    add_words(year_words(year));
    return true;
  }

  /// "10:30", "10:05:09", "7:45pm", "7 p.m.", "10:30-11:45".
  bool read_time() {
    const auto dash = core(0).find('-');
    if (dash != std::string_view::npos && dash + 1 < core(0).size() && is_figure(core(0)[dash + 1])) {
      const auto first = clock_time(core(0).substr(0, dash), core(0).ends_with('m') || half_of_day(core(1)));
      if (!first) return false;
      add_words(first->words);
      spell(first->half);
      add_words("to");
      tokens_[at_].core.erase(0, dash + 1);
      return read_time() || read_number();
    }
    const auto half = token(0)->behind.empty() ? half_of_day(core(1)) : std::nullopt;
    const auto time = clock_time(core(0), half.has_value());
    if (!time) return false;
    add_words(time->words);
    const bool is_behind = time->half.empty() && half;
    if (is_behind) ++at_;
    spell(is_behind ? *half : time->half);
    if (core(0).find('.') != std::string_view::npos) take_point();
    return true;
  }

  /// "Mon. 5 May", "Mon-Fri". "Sun." is a word at the text's end and where the next sentence begins.
  bool read_weekday() {
    const auto word = core(0);
    const auto dash = word.find('-');
    const auto first = weekday_name(word.substr(0, dash));
    if (!first || ascii_lower(word) == *first) return false;
    if (dash != std::string_view::npos) {
      const auto last = weekday_name(word.substr(dash + 1));
      if (!last) return false;
      if (!ascii_lower(word).ends_with(*last)) take_point();
      add_words(std::string(*first) + " to " + std::string(*last));
      return true;
    }
    const auto next = core(1);
    const bool is_next_sentence = next.empty() || (is_capital(next.front()) && !month_name(next));
    if (!token(0)->has_point() || is_next_sentence) return false;
    take_point();
    add_words(*first);
    return true;
  }

  /// "+44 20 7946 0958": figure by figure, whatever its groups look like.
  bool read_telephone() {
    const auto country = core(0);
    if (token(0)->is_opened && token(0)->behind == ")" && are_figures(country)) return read_area_and_number();
    constexpr std::size_t kLongest = 4;
    if (country.size() < 2 || country.size() > kLongest || country.front() != '+' || !are_figures(country.substr(1)))
      return false;
    if (!are_figures(core(1)) || core(1).size() < 2 || !token(0)->behind.empty()) return false;
    add_words("plus " + figure_words(country.substr(1)));
    while (are_figures(core(1)) && token(0)->behind.empty()) {
      ++at_;
      add_mark(',');
      add_words(figure_words(core(0)));
    }
    return true;
  }
  /// "(212) 555-0199".
  bool read_area_and_number() {
    const auto groups = split(core(1), '-');
    if (core(0).size() != 3 || groups.size() != 2 || groups[0].size() != 3 || groups[1].size() != 4 ||
        !std::ranges::all_of(groups, are_figures))
      return false;
    add_words(figure_words(core(0)));
    add_mark(',');
    for (const auto group : groups) add_words(figure_words(group));
    ++at_;
    return true;
  }
  bool read_groups() {
    const auto words = figure_group_words(core(0));
    if (words) add_words(*words);
    return words.has_value();
  }

  /// "https://example.com/a", "bob@example.com", "example.com": signs are words.
  bool read_address() {
    const auto parts = address_parts(core(0));
    for (const auto& part : parts) {
      if (part.is_spelled)
        spell(part.text);
      else if (are_figures(part.text))
        add_words(cardinal_words(part.text));
      else
        read_compound(part.text);
    }
    return !parts.empty();
  }

  /// "5 €" and "EUR 10" become one token, with the sign first as in "€5".
  void join_amount() {
    const auto next = core(1);
    const auto is_number = [](std::string_view word) { return !word.empty() && is_figure(word.back()); };
    const bool is_near = token(0)->behind.empty() && !next.empty() && !token(1)->is_opened;
    const bool is_sign_first = !currency_sign(core(0)).empty() && is_number(next);
    const bool is_sign_behind = is_number(core(0)) && !currency_sign(next.substr(0, next.find('/'))).empty();
    std::string amount(core(0));
    if (is_near && (is_sign_first || is_sign_behind)) {
      amount += next;
      ++at_;
    }
    tokens_[at_].core = amount_with_sign_first(amount);
  }
  /// As read_amount_of_money, "5 €", and "$20/hr".
  bool read_money() {
    join_amount();
    const auto whole = tokens_[at_].core;
    const auto slash = whole.find('/');
    const auto rate = slash == whole.npos ? "" : whole.substr(slash + 1);
    if (rate.empty() || !std::ranges::all_of(rate, is_english_character)) return read_amount_of_money();
    tokens_[at_].core.resize(slash);
    if (read_amount_of_money()) {
      add_words("per " + unit_of_rate(rate));
      return true;
    }
    tokens_[at_].core = whole;
    return false;
  }
  /// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5".
  bool read_amount_of_money() {
    std::string_view rest = core(0);
    const auto sign = rest.empty() ? CodePoint{} : code_point_at(rest, 0);
    const auto currency = currency_of(sign.value);
    if (!currency) return false;
    rest.remove_prefix(sign.size);
    const bool is_negative = rest.starts_with('-');
    if (is_negative) rest.remove_prefix(1);
    const auto number = number_at_front(rest);
    if (number.empty()) return false;
    if (is_negative) add_words("minus");
    const std::string plain = without_commas(number);
    const auto behind = rest.substr(number.size());
    if (behind.size() > 1 && behind.front() == '-') {  // "$5-10": "dollars" and a scale belong to both
      const bool has_sign = currency_of(code_point_at(behind, 1).value).has_value();
      std::string second = (has_sign ? "" : std::string(core(0).substr(0, sign.size))) + std::string(behind.substr(1));
      if (!is_figure(second.back()) && !scale_name(second.substr(second.find_last_of(kAllFigures) + 1))) return false;
      add_words(decimal_words(plain) + " to");
      tokens_[at_].core = std::move(second);
      return read_amount_of_money();
    }
    const auto scale = behind.empty() && token(0)->behind.empty() ? scale_name(core(1)) : scale_name(behind);
    if (scale) {
      add_words(decimal_words(plain) + " " + std::string(*scale) + " " + std::string(currency->many));
      if (behind.empty()) ++at_;
      return true;
    }
    return behind.empty() && read_amount(plain, *currency);
  }
  bool read_amount(const std::string& plain, const Currency& currency) {
    const auto point = plain.find('.');
    const auto whole = plain.substr(0, point);
    const bool has_cents = point != plain.npos && plain.size() - point == 3;
    if (point != plain.npos && !has_cents) {
      add_words(decimal_words(plain) + " " + std::string(currency.many));
      return true;
    }
    add_words(cardinal_words(whole) + " " + std::string(whole == "1" ? currency.one : currency.many));
    const auto cents = has_cents ? plain.substr(point + 1) : "00";
    if (cents == "00") return true;
    const auto value = std::to_string(std::stoi(cents));
    add_words("and " + cardinal_words(value) + " " + std::string(value == "1" ? currency.cent : currency.cents));
    return true;
  }

  /// "12", "1,234.5", "-3", "50%", "21st", "1980s", "1/2", "10-20", "1.5-2%", "5km".
  bool read_number() {
    std::string_view word = core(0);
    const bool is_negative = word.size() > 1 && word.front() == '-' && (is_figure(word[1]) || word[1] == '.');
    const bool is_old = word.starts_with('\'');
    if (is_negative || is_old) word.remove_prefix(1);
    const auto number = number_at_front(word);
    if (number.empty()) return false;
    const auto rest = word.substr(number.size());
    const std::string plain = without_commas(number);
    const bool is_whole = are_figures(plain);
    if (is_negative) add_words("minus");
    if (rest.empty()) {
      read_plain_number(number, plain);
    } else if (rest == "%") {
      add_words(decimal_words(plain) + " percent");
    } else if (is_whole && (rest == "st" || rest == "nd" || rest == "rd" || rest == "th")) {
      add_words(ordinal_words(plain));
    } else if (is_whole && (rest == "s" || rest == "'s")) {
      add_words(plural_of_number(plain.size() == 4 || plain.size() == 2 ? year_words(plain) : cardinal_words(plain)));
    } else if (const auto unit = unit_name(rest, plain == "1")) {
      add_words(decimal_words(plain) + " " + *unit);
    } else {
      return read_two_numbers(plain, rest) || read_mixed(word);
    }
    return true;
  }
  void read_plain_number(std::string_view number, const std::string& plain) {
    if (may_be_year(number)) {
      add_words(year_words(plain));
      return;
    }
    add_words(decimal_words(plain));
    const bool has_fraction = are_figures(plain) && read_fraction_behind();
    read_unit_behind(plain == "1" && !has_fraction);
  }
  /// "5 km" and "5 in.", not "5 in the morning".
  void read_unit_behind(bool is_one) {
    const auto unit = unit_name(core(1), is_one);
    const bool is_in = ascii_lower(core(1)) == "in" && !token(1)->has_point();
    const bool may_be_word = is_in || (core(1).size() == 1 && !is_sign_of_unit(core(1).front()));
    if (!unit || may_be_word || !token(0)->behind.empty()) return;
    ++at_;
    take_point();
    add_words(*unit);
  }
  /// "2 1/2 cups": the fraction belongs to the number before it.
  bool read_fraction_behind() {
    constexpr std::size_t kMostFigures = 2;
    const auto parts = split(core(1), '/');
    if (parts.size() != 2 || !std::ranges::all_of(parts, are_figures) || !token(0)->behind.empty()) return false;
    const auto above = parts[0], below = parts[1];
    const bool is_below_one = above.size() < below.size() || (above.size() == below.size() && above < below);
    if (below.size() > kMostFigures || !is_below_one || above == "0") return false;
    std::string words = fraction_words(above, below);
    if (above == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
    add_words("and " + words);
    ++at_;
    return true;
  }
  /// Units of one character, in capitals or not as they are written.
  static bool is_sign_of_unit(char c) { return std::string_view("msghVWl").find(c) != std::string_view::npos; }
  bool read_two_numbers(const std::string& first, std::string_view rest) {
    const char between = rest.front();
    const auto second = rest.substr(1);
    const auto number = number_at_front(second);
    const bool is_ratio = between == ':' && number.size() == second.size();
    if ((between == '-' || is_ratio) && !number.empty()) {
      const bool is_equation = second.find('=') != second.npos;  // "5-3=2"
      add_words((may_be_year(first) ? year_words(first) : decimal_words(first)) + (is_equation ? " minus" : " to"));
      tokens_[at_].core = std::string(second);
      return read_time() || read_number();
    }
    if (between != '/' || !are_figures(second) || !are_figures(first)) return false;
    const std::string_view whole = core(0);
    const bool is_pair = whole == "24/7" || whole == "9/11" || whole == "50/50";
    add_words(is_pair ? cardinal_words(first) + " " + cardinal_words(second) : fraction_words(first, second));
    return true;
  }

  /// Roman figures behind what is counted in them.
  bool read_roman() {
    const auto word = core(0);
    if (!are_capitals(word) || word.find_first_not_of("IVXLC") != word.npos || out_.empty()) return false;
    constexpr std::array<std::string_view, 9> kCounted{"chapter", "part",    "volume", "act",  "section",
                                                       "war",     "article", "scene",  "title"};
    constexpr std::array<std::string_view, 24> kNames{
        "henry",    "edward",   "charles",   "george",   "james",     "louis",   "william",   "richard",
        "philip",   "pope",     "pius",      "napoleon", "elizabeth", "john",    "paul",      "francis",
        "benedict", "nicholas", "frederick", "leo",      "peter",     "gregory", "alexander", "mary"};
    const auto& before = out_.back().text;
    const std::string figures = std::to_string(roman_value(word));
    if (std::ranges::find(kCounted, before) != kCounted.end()) {
      add_words(cardinal_words(figures));
      return true;
    }
    if (word == "I" || std::ranges::find(kNames, before) == kNames.end()) return false;
    add_words("the " + ordinal_words(figures));
    return true;
  }
  static int roman_value(std::string_view roman) {
    const auto value = [](char figure) {
      switch (figure) {
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

  bool read_short_form() {
    const bool is_number = !core(1).empty() && is_figure(core(1).front());
    const auto small = ascii_lower(core(0));
    if ((small == "no" || small == "fig" || small == "art") && !is_number) return false;
    const auto form = long_form(core(0), token(0)->has_point(), next_is_name());
    if (!form) return false;
    take_point();
    add_words(*form);
    return true;
  }

  /// "U.S.", "J." before a name, "FBI" where no dictionary has it.
  bool read_initials() {
    const auto word = core(0);
    const auto parts = split(word, '.');
    const auto is_one = [](std::string_view part) { return part.size() == 1 && is_english_character(part.front()); };
    const bool is_dotted = std::ranges::all_of(parts, is_one);
    const bool is_initial = word.size() == 1 && is_capital(word.front()) && word != "I" && word != "O";
    if (is_dotted && (parts.size() > 1 || (is_initial && token(0)->has_point() && next_is_name()))) {
      take_point();
      spell(word);
      return true;
    }
    if (is_initial && word != "A") {
      spell(word);
      return true;
    }
    if (!is_spelled(word)) return read_several_initials(word);
    spell(word);
    return true;
  }

  /// "GPUs" and "GPU's": the ending belongs to the last initial's name. "CPUs", where a dictionary has CPU alone.
  bool read_several_initials(std::string_view word) {
    const std::size_t ending = word.ends_with("'s") ? 2 : word.ends_with("s") ? 1 : 0;
    auto capitals = word.substr(0, word.size() - ending);
    if (ending == 0 || capitals.size() < 2 || !are_capitals(capitals) || knows_(ascii_lower(word))) return false;
    if (is_spelled(capitals)) {
      spell(capitals.substr(0, capitals.size() - 1));
      capitals = capitals.substr(capitals.size() - 1);
    }
    add_words(ascii_lower(capitals) + "'s");
    return true;
  }

  /// Capitals that no dictionary has.
  bool is_spelled(std::string_view word) const {
    constexpr std::size_t kMostCapitals = 5;
    return are_capitals(word) && word.size() >= 2 && word.size() <= kMostCapitals && !knows_(ascii_lower(word));
  }

  /// Words with signs, figures and hyphens in them.
  void read_compound(std::string_view word) {
    const bool is_product = word == "x" && at_ > 0 && !number_at_front(core(1)).empty() &&
                            !number_at_front(tokens_[at_ - 1].core).empty() && tokens_[at_ - 1].behind.empty();
    if (is_product) {
      add_words("times");
      return;
    }
    if (word.find('-') != word.npos && knows_(ascii_lower(word))) {
      add_words(ascii_lower(word));
      return;
    }
    std::string characters;
    const auto end_word = [&] {
      while (characters.ends_with('\'')) characters.pop_back();
      if (!characters.empty()) add_words(ascii_lower(characters));
      characters.clear();
    };
    for (std::size_t at = 0; at < word.size();) {
      const char c = word[at];
      if (is_figure(c)) {
        end_word();
        at += read_figures_within(word.substr(at));
        continue;
      }
      const auto sign = code_point_at(word, at);
      const char before = at > 0 ? word[at - 1] : ' ';
      at += sign.size;
      if (is_english_character(c) || c == '\'') {
        characters += c;
        continue;
      }
      end_word();
      const auto next = word.substr(at);
      const auto number = number_at_front(next);
      const auto currency = currency_of(sign.value);
      if (currency && !number.empty()) {  // "$1-a-day"
        add_words(decimal_words(without_commas(number)) + " " +
                  std::string(number == "1" ? currency->one : currency->many));
        at += number.size();
      } else if (currency && (is_figure(before) || (sign.size == word.size() && !out_.empty()))) {  // no prompt
        add_words(currency->many);
      } else if (c == '#' && number.empty()) {
        add_words("hash");
      } else if (const auto name = sign_name(sign.value);
                 name && (c != '^' || is_figure(before) || is_english_character(before) || before == ')')) {
        add_words(*name);
        if (c == '^' && next.starts_with('-')) add_words("minus");
      }
      if (c == ',' || c == ';' || c == ':' || c == '?' || c == '!') add_mark(c);
    }
    end_word();
  }
  /// A number at the front of `rest`, as "21st" in "21st-century"; how much of it that was.
  std::size_t read_figures_within(std::string_view rest) {
    const auto number = number_at_front(rest);
    const auto behind = rest.substr(number.size());
    constexpr std::size_t kEnding = 2;
    const auto ending = behind.substr(0, kEnding);
    const bool is_ordinal = (ending == "st" || ending == "nd" || ending == "rd" || ending == "th") &&
                            (behind.size() == kEnding || !is_english_character(behind[kEnding]));
    if (!is_ordinal || !are_figures(number)) {
      add_words(decimal_words(without_commas(number)));
      return number.size();
    }
    add_words(ordinal_words(number));
    const auto next = behind.substr(kEnding);  // "12th-14th"
    if (next.size() > 1 && next.front() == '-' && is_figure(next[1])) add_words("to");
    return number.size() + kEnding;
  }
  bool read_mixed(std::string_view word) {
    read_compound(word);
    return true;
  }

  std::vector<EnglishToken> tokens_;
  const KnowsWord& knows_;
  std::size_t at_ = 0;
  bool is_point_read_ = false;
  std::vector<ReadAloud> out_{};
};

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
  return EnglishReader(english_tokens(text, skipped), knows).read();
}

std::vector<ReadAloud> read_characters(std::string_view text) {
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
      if (mark == 0 || out.empty()) continue;
      if (out.back().kind != Kind::mark) out.push_back({Kind::mark, std::string(1, mark)});
    }
    end_word();
  };
  for (const auto& part : split_ipa(text)) {
    if (part.is_ipa)
      out.push_back({Kind::ipa, std::string(part.text)});
    else
      take_text(part.text);
  }
  return out;
}

}  // namespace tutti
