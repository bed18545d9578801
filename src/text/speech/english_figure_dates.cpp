// Dates in figures: "5/1/1863", "2024-03-15", "on 3/15".

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

/// A date in figures.
struct DigitDate {
  std::string_view year;
  int month = 0;
  int day = 0;  ///< 0: none is named
};

/// "2024-03-15", "3/15/2024", "15/03/2024", "15.3.2024", "3/15/24"; none for other text. Of two numbers that may both
/// be months the first one is the month, but before points.
std::optional<DigitDate> full_date(std::string_view text, char separator) {
  const auto parts = split(text, separator);
  constexpr std::size_t kParts = 3, kYear = 4;
  if (parts.size() != kParts || text.ends_with(separator) || !std::ranges::all_of(parts, is_all_digits))
    return std::nullopt;
  const bool year_first = parts[0].size() == kYear;
  const auto year = year_first ? parts[0] : parts[2];
  auto month = year_first ? parts[1] : parts[0], day = year_first ? parts[2] : parts[1];
  if (month.size() > 2 || day.size() > 2) return std::nullopt;
  const bool may_be_short = separator == '/' || (separator == '.' && (month.front() == '0' || day.front() == '0'));
  if (year.size() != kYear && !(may_be_short && year.size() == 2)) return std::nullopt;
  constexpr int kMonths = 12, kDays = 31;
  if (!year_first && (separator == '.' || number_of(month) > kMonths)) std::swap(month, day);
  const DigitDate date{year, number_of(month), number_of(day)};
  const bool is_date = date.month >= 1 && date.month <= kMonths && date.day >= 1 && date.day <= kDays;
  return is_date ? std::optional(date) : std::nullopt;
}

/// "03/2024", "2024-03"; years of a season are none.
std::optional<DigitDate> month_of_year(std::string_view text, char separator) {
  const auto parts = split(text, separator);
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits)) return std::nullopt;
  const bool year_first = may_be_year(parts[0]);
  const auto year = parts[year_first ? 0 : 1], month = parts[year_first ? 1 : 0];
  constexpr int kMonths = 12;
  const bool is_date = may_be_year(year) && month.size() == 2 && number_of(month) >= 1 && number_of(month) <= kMonths;
  return is_date && separator != '.' ? std::optional(DigitDate{year, number_of(month)}) : std::nullopt;
}

/// "2010/11", "2008-09", "2010/2011", "FY2025/26": years that follow each other, the second one often short.
bool read_season(EnglishCursor& text, char separator) {
  constexpr auto kNumbered = std::to_array<std::string_view>(
      {"ordinance", "resolution", "bill", "case", "order", "docket", "file", "number", "no", "report", "ref"});
  constexpr std::string_view kFiscal = "FY";
  auto years = text.core(0);
  const bool is_fiscal = years.starts_with(kFiscal);
  if (is_fiscal) years.remove_prefix(kFiscal.size());
  const auto parts = split(years, separator);
  if (parts.size() != 2 || !may_be_year(parts[0]) || !is_all_digits(parts[1])) return false;
  if (separator == '-' &&
      std::ranges::find(kNumbered, text.small_before()) != kNumbered.end()) {  // "Ordinance 2025-37"
    text.add_words(year_words(parts[0]) + " dash " + cardinal_words(std::to_string(number_of(parts[1]))));
    return true;
  }
  constexpr int kCentury = 100;
  const bool is_short = parts[1].size() == 2;
  const int first = number_of(parts[0]), second = is_short ? number_of(parts[1]) : 0;
  const bool is_next = is_short ? second == (first + 1) % kCentury || (second > first % kCentury && second > 12)
                                : may_be_year(parts[1]) && parts[1] > parts[0];
  if (!is_next) return false;
  std::string words = !is_short                   ? year_words(parts[1])
                      : second < first % kCentury ? year_words(std::to_string(first + 1))
                                                  : two_digit_words(parts[1]);
  if (is_fiscal) text.spell(kFiscal);
  text.add_words(year_words(parts[0]) + " to " + words);
  return true;
}

/// The numbers of "3/15"; none for other text.
std::optional<std::pair<int, int>> numbers_of_fraction(std::string_view text) {
  const auto parts = split(text, '/');
  const auto is_short = [](std::string_view part) { return is_all_digits(part) && part.size() < 3; };
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_short)) return std::nullopt;
  return std::pair(number_of(parts[0]), number_of(parts[1]));
}

/// "5/31" and "12/23": a day behind its month, which is no fraction.
bool is_sure_day(std::string_view text) {
  constexpr int kMonths = 12, kDays = 31;
  const auto numbers = numbers_of_fraction(text);
  if (!numbers) return false;
  const auto [month, day] = *numbers;
  constexpr auto kFractions = std::to_array<int>({16, 20, 24});  // "3/16 in.", but "12/24" is no such fraction
  constexpr int kSixteen = 16, kLate = 10;
  if (month >= kLate && day != kSixteen) return month <= kMonths && day > kMonths && day <= kDays;
  return month > 1 && month <= kMonths && day > kMonths && day <= kDays &&
         std::ranges::find(kFractions, day) == kFractions.end();
}

/// "the 4/20 show", which a fraction would be a fifth of, and "the 4/1 deadline".
bool is_day_of_event(const EnglishCursor& text) {
  constexpr auto kEvents = std::to_array<std::string_view>(
      {"show",     "concert",  "game",      "match", "meeting",  "event",  "party",   "hearing",
       "deadline", "election", "episode",   "class", "session",  "launch", "release", "email",
       "call",     "memo",     "interview", "tour",  "festival", "rally",  "protest", "broadcast",
       "webinar",  "workshop", "lecture",   "vote",  "primary",  "flight"});
  const auto numbers = numbers_of_fraction(text.core(0));
  return numbers && text.small_before() == "the" && text.token(0)->behind.empty() &&
         (numbers->first > numbers->second || std::gcd(numbers->first, numbers->second) > 1) &&
         std::ranges::find(kEvents, text.core(1)) != kEvents.end();
}

/// "starts 7/1 and", "ends 11/5.", "expires 1/4", not "opens 1/4 and then closes" or "runs 5/8 to the top".
bool is_day_behind_verb(const EnglishCursor& text) {
  constexpr auto kSure = std::to_array<std::string_view>({"expires", "expired", "dated"});
  constexpr auto kVerbs = std::to_array<std::string_view>(
      {"starts", "started", "begins", "began", "ends", "ended", "opens", "closes", "runs"});
  constexpr auto kCommon = std::to_array<std::string_view>({"1/2", "1/3", "2/3", "1/4", "3/4"});
  const auto next = text.core(1), behind = std::string_view(text.token(0)->behind);
  if (!next.empty() && behind.empty() && next != "and" && next != "at" && next != "to") return false;
  if (std::ranges::find(kSure, text.small_before()) != kSure.end()) return true;
  const auto numbers = numbers_of_fraction(text.core(0));
  if (!numbers || std::ranges::find(kVerbs, text.small_before()) == kVerbs.end() ||
      std::ranges::find(kCommon, text.core(0)) != kCommon.end())
    return false;
  const bool ends_sentence = next.empty() || behind.find_first_of(".!?,;") != behind.npos;
  const bool is_above_one = numbers->first >= numbers->second;
  const bool is_before_time = next == "at" && !text.core(2).empty() && is_ascii_digit(text.core(2).front());
  const bool is_before_day = is_sure_day(text.core(2));
  constexpr std::size_t kNear = 4;
  bool is_near_name = false;  // of a weekday or a month
  for (std::size_t i = 1; i <= kNear; ++i)
    for (const auto word : {text.core(i), text.before(i) ? std::string_view(text.before(i)->core) : ""})
      is_near_name = is_near_name || weekday_name(word) || (month_name(word) && word != "May");
  return ends_sentence || is_above_one || is_before_time || is_before_day || is_near_name;
}

/// "7/6-7/10": days of one month, of which fractions would go down.
bool is_within_month(std::string_view first, std::string_view last) {
  constexpr auto kHalved = std::to_array<int>({2, 4, 8, 16, 32});
  const auto begin = numbers_of_fraction(first), end = numbers_of_fraction(last);
  const auto is_halved = [&](int below) { return std::ranges::find(kHalved, below) != kHalved.end(); };
  constexpr int kMonths = 12;
  const bool is_of_one = begin && end && begin->first == 1 && end->second <= kMonths;  // "1/4 to 1/3 cup"
  return begin && end && !is_of_one && begin->first == end->first && begin->second < end->second &&
         !(is_halved(begin->second) && is_halved(end->second));
}

/// "from 11/5;", "is 12/3 at 7": above one, and nothing that a fraction would be of.
bool is_day_above_one(const EnglishCursor& text) {
  constexpr auto kBefore = std::to_array<std::string_view>({"from", "is", "was", "before", "after", "by", "til"});
  constexpr auto kBehind = std::to_array<std::string_view>({"at", "to", "and", "through", "from", "or", "for"});
  const auto numbers = numbers_of_fraction(text.core(0));
  constexpr int kMonths = 12;
  if (!numbers || numbers->first <= numbers->second || numbers->first > kMonths) return false;
  const auto next = text.core(1);
  const bool is_last = next.empty() || !text.token(0)->behind.empty() ||
                       std::ranges::find(kBehind, next) != kBehind.end() || weekday_name(next);
  return is_last && std::ranges::find(kBefore, text.small_before()) != kBefore.end();
}

/// "on 3/15": a day of a month, where it or what is before shows that it is no fraction.
std::optional<DigitDate> day_of_month(const EnglishCursor& text, char separator) {
  constexpr auto kBefore = std::to_array<std::string_view>({"on", "until", "till", "since", "due"});
  constexpr auto kBeforeBy = std::to_array<std::string_view>(
      {"due", "rsvp", "reply", "respond", "register", "apply", "submit", "submitted", "needed"});  // "due by 4/1"
  if (separator != '/' || text.core(0) == "9/11") return std::nullopt;
  const bool is_by =
      text.small_before() == "by" && std::ranges::find(kBeforeBy, text.small_before(2)) != kBeforeBy.end();
  const bool is_behind_weekday = text.before() && weekday_name(text.before()->core);  // "Fri 3/7"
  const bool is_on = is_by || is_behind_weekday || is_day_behind_verb(text) || is_day_of_event(text) ||
                     is_day_above_one(text) ||
                     (text.has_words() && std::ranges::find(kBefore, text.last_word()) != kBefore.end());
  const auto* other = text.before(2);  // "12/23 to 1/2"
  constexpr auto kThrough = std::to_array<std::string_view>({"to", "through", "thru", "until", "till"});
  const bool is_behind_day = other && std::ranges::find(kThrough, text.small_before()) != kThrough.end() &&
                             (is_sure_day(other->core) || is_within_month(other->core, text.core(0)));
  if (!is_on && !is_behind_day && !is_sure_day(text.core(0))) return std::nullopt;
  const auto day = full_date(std::string(text.core(0)) + "/2000", separator);
  if (!day) return std::nullopt;
  return DigitDate{"", day->month, day->day};
}

/// "12/23-1/2": days of months, one of which is sure to be no fraction.
bool read_days_of_months(EnglishCursor& text) {
  const auto days = split(text.core(0), '-');
  if (days.size() != 2 || (std::ranges::none_of(days, is_sure_day) && !is_within_month(days[0], days[1]))) return false;
  std::string words;
  for (const auto day : days) {
    const auto date = full_date(std::string(day) + "/2000", '/');
    if (!date) return false;
    words += (words.empty() ? "" : " to ") + std::string(month_name(date->month)) + " " +
             ordinal_words(std::to_string(date->day));
  }
  text.add_words(words);
  return true;
}

void add_date(EnglishCursor& text, const DigitDate& date) {
  constexpr std::size_t kShort = 2;
  text.add_words(month_name(date.month));
  if (date.day > 0) text.add_words(ordinal_words(std::to_string(date.day)));
  if (date.year.empty()) return;
  const bool is_short = date.year.size() == kShort;
  text.add_words(year_words((is_short ? (date.year < "50" ? "20" : "19") : "") + std::string(date.year)));
}

/// What is behind a "T" in "2024-03-15T10:30:00Z": a time, and the zone that it is of.
void read_time_of_date(EnglishCursor& text, std::string time) {
  const auto zone_at = std::min(time.find_first_of("Z+-"), time.size());
  std::string zone = time.substr(zone_at);
  time.resize(std::min(time.find('.'), zone_at));
  if (time.ends_with(":00") && time.size() > std::string_view("10:00").size()) time.resize(time.size() - 3);
  if (const auto clock = clock_time(time, false)) text.add_words(clock->words);
  if (zone == "Z") text.spell("utc");
  if (zone.size() < 2) return;
  text.add_words(zone.front() == '-' ? "minus" : "plus");
  for (const auto part : split(std::string_view(zone).substr(1), ':'))
    if (is_all_digits(part) && part != "00") text.add_words(cardinal_words(std::to_string(number_of(part))));
}

}  // namespace

bool read_date_in_figures(EnglishCursor& text) {
  const std::string word(text.core(0));
  const auto at = word.find_first_of("-/.");
  if (at == std::string::npos) return false;
  if (read_days_of_months(text)) return true;
  const auto time_at = std::min(word.find('T'), word.size());
  const auto date = full_date(std::string_view(word).substr(0, time_at), word[at]);
  if (date && (time_at == word.size() || clock_time(word.substr(time_at + 1, 5), false))) {
    add_date(text, *date);
    if (time_at < word.size()) read_time_of_date(text, word.substr(time_at + 1));
    return true;
  }
  if (read_season(text, word[at])) return true;
  const auto month = month_of_year(word, word[at]);
  const auto part = month ? month : day_of_month(text, word[at]);
  if (part) add_date(text, *part);
  return part.has_value();
}

}  // namespace tutti
