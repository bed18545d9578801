#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

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
  return word.size() == 2 && word.front() == '0' ? word.substr(1) : word;  // "09 March"
}

bool is_day(std::string_view word) {
  const auto digits = day_of(word);
  return is_all_digits(digits) && digits.size() <= 2 && digits != "0" && digits != "00" &&
         (digits.size() == 1 || digits <= "31") && digits.front() != '0';
}

/// "13-15" as ordinals; none for other text.
std::optional<std::string> days_words(std::string_view word, std::string_view article) {
  const auto days = split(word, '-');
  if (days.size() != 2 || !std::ranges::all_of(days, is_day)) return std::nullopt;
  return ordinal_words(day_of(days[0])) + " to " + std::string(article) + ordinal_words(day_of(days[1]));
}

bool read_month_first(EnglishCursor& text, std::string_view month);

void read_year_behind(EnglishCursor& text) {
  const auto& behind = text.token(0)->behind;
  const std::string range(text.core(1));
  const auto dash = range.find('-');
  const auto month = dash == range.npos ? std::nullopt : month_name(std::string_view(range).substr(dash + 1));
  if (month && may_be_year(range.substr(0, dash)) && (behind.empty() || behind == ",")) {  // "1977-January 3, 1987"
    text.advance();
    text.add_words(year_words(range.substr(0, dash)) + " to");
    text.replace_core(range.substr(dash + 1));
    read_month_first(text, *month);
    return;
  }
  if (!may_be_year(text.core(1)) || !(behind.empty() || behind == "," || text.is_point_read())) return;
  text.add_marks(*text.token(0));
  text.advance();
  text.add_words(year_words(text.core(0)));
}

/// "21, & 22" behind "October 20,": days of a list.
void read_more_days(EnglishCursor& text) {
  const auto is_and = [](std::string_view word) { return word == "&" || word == "and"; };
  const auto is_listed = [&] {
    return text.token(0)->behind == "," && is_day(text.core(1)) && text.token(1)->behind == ",";
  };
  if (!is_listed() || !(is_and(text.core(2)) || is_day(text.core(2)))) return;
  while (is_listed()) {
    text.finish_token();
    text.add_words(ordinal_words(day_of(text.core(0))));
  }
  if (!is_and(text.core(1)) || !is_day(text.core(2))) return;
  text.advance();
  text.advance();
  text.add_words("and " + ordinal_words(day_of(text.core(0))));
}

/// "& 26" behind "Dec 25", where nothing is counted by it.
void read_another_day(EnglishCursor& text) {
  const auto sign = text.core(1);
  const auto* day = text.token(2);
  const bool is_last = day && (!day->behind.empty() || !text.token(3));
  if ((sign != "&" && sign != "and") || !text.token(0)->behind.empty() || !is_day(text.core(2)) || !is_last) return;
  text.advance();
  text.advance();
  text.add_words("and " + ordinal_words(day_of(text.core(0))));
}

/// "30-Nov" behind "Oct."
bool begins_range_of_months(std::string_view word) {
  const auto dash = word.find('-');
  return dash != word.npos && is_day(word.substr(0, dash)) && month_name(word.substr(dash + 1));
}

/// The day of such a range; the next token is the other month then.
bool read_range_of_months(EnglishCursor& text) {
  if (!begins_range_of_months(text.core(1))) return false;
  text.advance();
  const std::string range(text.core(0));
  const auto dash = range.find('-');
  text.add_words(ordinal_words(day_of(std::string_view(range).substr(0, dash))) + " to");
  text.replace_core(range.substr(dash + 1));
  return true;
}

bool read_month_first(EnglishCursor& text, std::string_view month) {
  const bool is_full = ascii_lower(text.core(0)) == month;
  const auto days = days_words(text.core(1), "");
  const bool is_short_year =
      text.core(1).size() == 3 && text.core(1).front() == '\'' && is_all_digits(text.core(1).substr(1));  // "Oct '19"
  const bool has_day = is_day(text.core(1)) || days || begins_range_of_months(text.core(1)),
             has_year = may_be_year(text.core(1)) || is_short_year;
  // "Mar" and "Sun" alone may be anything; "May" and "March" are words.
  if (!is_full && !text.token(0)->has_point() && !has_day && !has_year) return false;
  if (!is_full) text.take_point();
  text.add_words(month);
  if (const auto parts = split(text.core(1), ','); parts.size() == 2 && is_day(parts[0]) && may_be_year(parts[1])) {
    text.add_words(ordinal_words(day_of(parts[0])) + " " + year_words(parts[1]));  // "March 18,2025"
    text.advance();
    return true;
  }
  if (read_range_of_months(text)) return read_month_first(text, *month_name(text.core(0)));
  if (has_day && (is_full || text.token(0)->behind.empty() || text.token(0)->has_point())) {
    text.advance();
    text.add_words(days ? *days : ordinal_words(day_of(text.core(0))));
    read_another_day(text);
    read_more_days(text);
  }
  if (has_day) text.leave_point();
  read_year_behind(text);
  return true;
}

/// "Mar.-Aug. 2020".
bool read_months(EnglishCursor& text) {
  const auto parts = split(text.core(0), '-');
  const auto named = [](std::string_view part) { return month_name(part.substr(0, part.find('.'))); };
  const auto first = parts.size() == 2 ? named(parts[0]) : std::nullopt;
  const auto last = first ? named(parts[1]) : std::nullopt;
  if (!last) return false;
  text.take_point();
  text.add_words(std::string(*first) + " to " + std::string(*last));
  read_year_behind(text);
  return true;
}

/// "11-Sep-2001", "Oct-29".
bool read_short_date(EnglishCursor& text) {
  const auto parts = split(text.core(0), '-');
  const auto first = parts.size() == 2 && parts[1].size() == 2 ? month_name(parts[0]) : std::nullopt;
  if (first && is_day(parts[1])) {
    text.add_words(std::string(*first) + " " + ordinal_words(day_of(parts[1])));
    return true;
  }
  const auto month = parts.size() == 3 ? month_name(parts[1]) : std::nullopt;
  if (!month || !is_day(parts[0]) || !may_be_year(parts[2])) return false;
  text.add_words(std::string(*month) + " " + ordinal_words(parts[0]) + " " + year_words(parts[2]));
  return true;
}

/// "2 January-31 May".
bool read_days_of_two_months(EnglishCursor& text) {
  const auto parts = split(text.core(1), '-');
  const auto first = parts.size() == 2 ? month_name(parts[0]) : std::nullopt;
  const auto last = month_name(text.core(2));
  if (!first || !last || !is_day(text.core(0)) || !is_day(parts[1]) || !text.token(0)->behind.empty()) return false;
  text.add_words("the " + ordinal_words(day_of(text.core(0))) + " of " + std::string(*first) + " to the " +
                 ordinal_words(day_of(parts[1])) + " of " + std::string(*last));
  text.advance();
  text.advance();
  read_year_behind(text);
  return true;
}

}  // namespace

bool read_date(EnglishCursor& text) {
  if (read_days_of_two_months(text)) return true;
  if (const auto month = month_name(text.core(0))) return read_month_first(text, *month);
  if (const auto month = month_name(text.core(1)); month && is_day(text.core(0)) && !text.token(0)->has_point()) {
    const bool has_article = text.has_words() && text.last_word() == "the";
    text.add_words((has_article ? "" : "the ") + ordinal_words(day_of(text.core(0))) + " of " + std::string(*month));
    text.advance();
    read_year_behind(text);
    return true;
  }
  if (read_months(text)) return true;
  if (const auto month = month_name(text.core(1)); month && text.token(0)->behind.empty())
    if (const auto days = days_words(text.core(0), "the ")) {  // "5-7 June"
      const bool has_article = text.has_words() && text.last_word() == "the";
      text.add_words((has_article ? "" : "the ") + *days + " of " + std::string(*month));
      text.advance();
      read_year_behind(text);
      return true;
    }
  return read_short_date(text) || read_date_in_figures(text);
}

/// "M-F" and "Tu-Th" before a time, or behind what is open then.
bool read_initials_of_weekdays(EnglishCursor& text) {
  using Named = std::pair<std::string_view, std::string_view>;
  constexpr auto kInitials = std::to_array<Named>({{"M", "monday"},
                                                   {"T", "tuesday"},
                                                   {"Tu", "tuesday"},
                                                   {"W", "wednesday"},
                                                   {"Th", "thursday"},
                                                   {"F", "friday"},
                                                   {"Sa", "saturday"},
                                                   {"Su", "sunday"}});
  const auto parts = split(text.core(0), '-');
  const auto day_of = [&](std::string_view part) { return std::ranges::find(kInitials, part, &Named::first); };
  if (parts.size() != 2 || day_of(parts[0]) == kInitials.end() || day_of(parts[1]) == kInitials.end()) return false;
  const auto next = text.core(1), before = std::string_view(text.before() ? text.before()->core : "");
  const bool is_before_time = !next.empty() && is_ascii_digit(next.front());
  if (!is_before_time && ascii_lower(before) != "open" && ascii_lower(before) != "hours") return false;
  text.add_words(std::string(day_of(parts[0])->second) + " to " + std::string(day_of(parts[1])->second));
  return true;
}

/// "Mon/Wed/Fri".
bool read_listed_weekdays(EnglishCursor& text) {
  const auto days = split(text.core(0), '/');
  const auto is_day_of_week = [](std::string_view day) { return weekday_name(day).has_value(); };
  if (days.size() < 2 || !std::ranges::all_of(days, is_day_of_week)) return false;
  text.take_point();
  for (const auto day : days) text.add_words(*weekday_name(day));
  return true;
}

bool read_weekday(EnglishCursor& text) {
  if (read_listed_weekdays(text)) return true;
  if (read_initials_of_weekdays(text)) return true;
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
  const bool is_next_sentence =
      next.empty() || (is_ascii_upper(next.front()) && !month_name(next.substr(0, next.find('-'))));
  const bool is_in_figures = !next.empty() && is_ascii_digit(next.front()) && next.find_first_of("/-") != next.npos;
  const bool is_on = text.small_before() == "on";
  const bool is_listed = text.token(0)->behind == "," && weekday_name(next);  // "on Wed, Thursday and Friday"
  const bool is_last = next.empty() && text.token(0)->has_point();            // "We met on Wed."
  constexpr auto kNoWords = std::to_array<std::string_view>({"Thurs", "Thur", "Tues", "Tue", "Weds"});
  const bool is_sure = is_last && std::ranges::find(kNoWords, word) != kNoWords.end();  // "It begins Thurs."
  const auto is_until = [](std::string_view joint) { return joint == "through" || joint == "thru"; };
  const bool is_range = is_ascii_upper(word.front()) &&  // "Mon through Fri"
                        ((is_until(next) && weekday_name(text.core(2))) ||
                         (is_until(text.small_before()) && text.before(2) && weekday_name(text.before(2)->core)));
  const bool is_behind_time = is_last && half_of_day(text.small_before());  // "after 4 p.m. Sat."
  if ((is_on && (is_listed || is_last)) || is_sure || is_range || is_behind_time) {
    text.add_words(*first);
    return true;
  }
  const bool is_before_date =
      is_day(next) || month_name(next.substr(0, next.find('-'))) || is_in_figures || is_on;  // "Mon 3 June"
  if (!(text.token(0)->has_point() || is_before_date) || is_next_sentence) return false;
  text.take_point();
  text.add_words(*first);
  return true;
}

}  // namespace tutti
