#include <algorithm>
#include <optional>
#include <string>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

std::string_view day_of(std::string_view word) {
  for (const std::string_view end : {"st", "nd", "rd", "th"})
    if (word.ends_with(end)) return word.substr(0, word.size() - end.size());
  return word;
}

bool is_day(std::string_view word) {
  const auto digits = day_of(word);
  return is_all_digits(digits) && digits.size() <= 2 && digits != "0" && digits != "00" &&
         (digits.size() == 1 || digits <= "31") && digits.front() != '0';
}

void read_year_behind(EnglishCursor& text) {
  const auto& behind = text.token(0)->behind;
  if (!may_be_year(text.core(1)) || !(behind.empty() || behind == "," || text.is_point_read())) return;
  text.add_marks(*text.token(0));
  text.advance();
  text.add_words(year_words(text.core(0)));
}

bool read_month_first(EnglishCursor& text, std::string_view month) {
  const bool is_full = ascii_lower(text.core(0)) == month;
  const bool has_day = is_day(text.core(1)), has_year = may_be_year(text.core(1));
  // "Mar" and "Sun" alone may be anything; "May" and "March" are words.
  if (!is_full && !text.token(0)->has_point() && !has_day && !has_year) return false;
  if (!is_full) text.take_point();
  text.add_words(month);
  if (has_day && (is_full || text.token(0)->behind.empty() || text.token(0)->has_point())) {
    text.advance();
    text.add_words(ordinal_words(day_of(text.core(0))));
  }
  if (has_day) text.leave_point();
  read_year_behind(text);
  return true;
}

bool read_digits_of_date(EnglishCursor& text) {
  const auto separator = text.core(0).find_first_of("-/.");
  if (separator == std::string_view::npos) return false;
  const auto parts = split(text.core(0), text.core(0)[separator]);
  if (parts.size() != 3 || !std::ranges::all_of(parts, is_all_digits)) return false;
  const bool year_first = parts[0].size() == 4, day_first = text.core(0)[separator] == '.' && !year_first;
  const auto year = year_first ? parts[0] : parts[2];
  const auto month = year_first || day_first ? parts[1] : parts[0];
  const auto day = year_first ? parts[2] : day_first ? parts[0] : parts[1];
  if (month.size() > 2 || day.size() > 2 || year.size() != 4) return false;
  const int month_number = std::stoi(std::string(month)), day_number = std::stoi(std::string(day));
  if (month_number < 1 || month_number > 12 || day_number < 1 || day_number > 31) return false;
  text.add_words(month_name(month_number));
  text.add_words(ordinal_words(std::to_string(day_number)));
  text.add_words(year_words(year));
  return true;
}

}  // namespace

bool read_date(EnglishCursor& text) {
  if (const auto month = month_name(text.core(0))) return read_month_first(text, *month);
  if (const auto month = month_name(text.core(1)); month && is_day(text.core(0)) && !text.token(0)->has_point()) {
    const bool has_article = text.has_words() && text.last_word() == "the";
    text.add_words((has_article ? "" : "the ") + ordinal_words(day_of(text.core(0))) + " of " + std::string(*month));
    text.advance();
    read_year_behind(text);
    return true;
  }
  return read_digits_of_date(text);
}

bool read_time(EnglishCursor& text) {
  const auto dash = text.core(0).find('-');
  if (dash != std::string_view::npos && dash + 1 < text.core(0).size() && is_ascii_digit(text.core(0)[dash + 1])) {
    const auto first =
        clock_time(text.core(0).substr(0, dash), text.core(0).ends_with('m') || half_of_day(text.core(1)));
    if (!first) return false;
    text.add_words(first->words);
    text.spell(first->half);
    text.add_words("to");
    text.replace_core(std::string(text.core(0).substr(dash + 1)));
    return read_time(text) || read_number(text);
  }
  const auto half = text.token(0)->behind.empty() ? half_of_day(text.core(1)) : std::nullopt;
  const auto time = clock_time(text.core(0), half.has_value());
  if (!time) return false;
  text.add_words(time->words);
  const bool is_behind = time->half.empty() && half;
  if (is_behind) text.advance();
  text.spell(is_behind ? *half : time->half);
  if (text.core(0).find('.') != std::string_view::npos) text.take_point();
  return true;
}

bool read_weekday(EnglishCursor& text) {
  const auto word = text.core(0);
  const auto dash = word.find('-');
  const auto first = weekday_name(word.substr(0, dash));
  if (!first || ascii_lower(word) == *first) return false;
  if (dash != std::string_view::npos) {
    const auto last = weekday_name(word.substr(dash + 1));
    if (!last) return false;
    if (!ascii_lower(word).ends_with(*last)) text.take_point();
    text.add_words(std::string(*first) + " to " + std::string(*last));
    return true;
  }
  const auto next = text.core(1);
  const bool is_next_sentence = next.empty() || (is_ascii_upper(next.front()) && !month_name(next));
  if (!text.token(0)->has_point() || is_next_sentence) return false;
  text.take_point();
  text.add_words(*first);
  return true;
}

}  // namespace tutti
