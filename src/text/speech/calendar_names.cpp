// The names of weekdays, months, halves of a day and zones of time.

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "text/speech/abbreviations.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays{"monday", "tuesday",  "wednesday", "thursday",
                                                    "friday", "saturday", "sunday"};

constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};

}  // namespace

std::optional<std::string_view> weekday_name(std::string_view word) {
  constexpr std::size_t kShort = 3, kLongestShort = 5;
  if (word.ends_with('.')) word.remove_suffix(1);
  if (word.size() < kShort || word.front() < 'A' || word.front() > 'Z') return std::nullopt;
  const std::string small = ascii_lower(word);
  for (const auto day : kWeekdays)
    if (small == day || (small.size() <= kLongestShort && day.starts_with(small))) return day;
  return std::nullopt;
}

std::optional<std::string> half_of_day(std::string_view word) {
  std::string half = ascii_lower(word);
  std::erase(half, '.');
  if (half != "am" && half != "pm") return std::nullopt;
  return half;
}

bool is_time_zone(std::string_view word) {
  constexpr auto kZones =
      std::to_array<std::string_view>({"GMT", "UTC", "EST", "EDT", "CST", "CDT",  "MST", "MDT", "PST", "PDT", "ET",
                                       "CT",  "MT",  "PT",  "BST", "CET", "CEST", "EET", "IST", "JST", "AEST"});
  return std::ranges::find(kZones, word) != kZones.end();
}

std::optional<std::string_view> month_name(std::string_view word) {
  constexpr std::size_t kShort = 3;
  if (word.size() < kShort || word.front() < 'A' || word.front() > 'Z') return std::nullopt;
  const std::string small = ascii_lower(word);
  for (const auto month : kMonths)
    if (small == month || small == month.substr(0, kShort) || (small == "sept" && month == "september")) return month;
  return std::nullopt;
}

std::string_view month_name(int number) {
  return kMonths[static_cast<std::size_t>(std::clamp(number, 1, 12) - 1)];
}

}  // namespace tutti
