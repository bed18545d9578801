#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

/// "1:52.3" of a race, "2:00 left", "1h 30m": how long something takes.
bool read_duration(EnglishCursor& text) {
  const std::string word(text.core(0));
  const auto colon = word.find(':'), point = word.find('.');
  const auto minutes = std::string_view(word).substr(0, colon);
  if (colon != std::string::npos && point != std::string::npos && point == colon + 3 && is_all_digits(minutes) &&
      is_all_digits(std::string_view(word).substr(point + 1)) && clock_time(word.substr(0, point), false)) {
    text.add_words(cardinal_words(minutes) + (word[colon + 1] == '0' ? " oh " : " ") +
                   decimal_words(std::string_view(word).substr(colon + (word[colon + 1] == '0' ? 2 : 1))));
    return true;
  }
  const auto next = text.core(1);
  if (word.ends_with(":00") && is_all_digits(minutes) && (next == "left" || next == "remaining")) {
    text.add_words(cardinal_words(minutes) + (minutes == "1" ? " minute" : " minutes"));
    return true;
  }
  const auto seconds = std::string_view(word).substr(std::min(word.size(), colon == std::string::npos ? 0 : colon + 1));
  if (minutes == "0" && colon == 1 && seconds.size() == 2 && is_all_digits(seconds) && !half_of_day(next) &&
      !is_time_zone(next)) {  // "0:32 to go"
    const auto count = std::to_string(number_of(seconds));
    text.add_words(cardinal_words(count) + (count == "1" ? " second" : " seconds"));
    return true;
  }
  const auto is_number_with = [](std::string_view time, char unit) {
    return time.size() > 1 && time.back() == unit && is_all_digits(time.substr(0, time.size() - 1));
  };
  const bool is_behind_hours = is_number_with(text.small_before(), 'h'), is_before_seconds = is_number_with(next, 's');
  if (!is_number_with(word, 'm') || !(is_behind_hours || is_before_seconds)) return false;
  text.add_words(cardinal_words(word.substr(0, word.size() - 1)) + (word == "1m" ? " minute" : " minutes"));
  return true;
}

/// "at 10.34", "the 11.36 train": where a text is of trains and the like.
bool is_time_with_point(const EnglishCursor& text) {
  constexpr auto kCues = std::to_array<std::string_view>(
      {"train", "bus", "coach", "ferry", "flight", "tram", "departures", "meeting", "mass", "doors", "service"});
  const auto is_cue = [&](std::string_view word) { return std::ranges::find(kCues, word) != kCues.end(); };
  const auto parts = split(text.core(0), '.');
  constexpr int kHours = 24;
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits) || parts[0].size() > 2 || parts[1].size() != 2 ||
      number_of(parts[0]) >= kHours)
    return false;
  if (is_cue(text.core(1)) && text.token(0)->behind.empty()) return true;
  const auto before = text.small_before();
  return (before == "at" || before == "until" || before == "from" || before == "by") && !has_unit_behind(text) &&
         (std::ranges::any_of(kCues, [&](std::string_view cue) { return text.has_word(cue); }) ||
          std::ranges::any_of(kCues, [&](std::string_view cue) {
            for (std::size_t ahead = 1; text.token(ahead); ++ahead)
              if (text.core(ahead) == cue) return true;
            return false;
          }));
}

/// "0930", "2000": digits that may be a time of day without a colon.
bool may_be_time(std::string_view digits) {
  constexpr std::size_t kDigits = 4, kHour = 2;
  constexpr int kHours = 24, kMinutes = 60;
  return digits.size() == kDigits && is_all_digits(digits) && number_of(digits.substr(0, kHour)) < kHours &&
         number_of(digits.substr(kHour)) < kMinutes;
}

/// "at 2000 hours", not "at 2000 hours of use" or "cut by 2000 hours".
bool is_at_time(const EnglishCursor& text) {
  constexpr auto kChanges = std::to_array<std::string_view>(
      {"cut", "reduced", "increased", "rose", "fell", "grew", "dropped", "extended", "raised", "lowered", "shortened",
       "up", "down", "decreased", "exceeded", "risen", "fallen", "grown"});
  constexpr auto kAmounts = std::to_array<std::string_view>({"of", "per", "a", "an", "each", "every", "in", "total"});
  const auto before = text.small_before();
  const bool is_change = before == "by" && std::ranges::find(kChanges, text.small_before(2)) != kChanges.end();
  const bool is_amount =
      text.token(1) && text.token(1)->behind.empty() && std::ranges::find(kAmounts, text.core(2)) != kAmounts.end();
  return (before == "at" || before == "by") && !is_change && !is_amount;
}

bool is_hours(std::string_view word) {
  return word == "hours" || word == "hrs";
}

/// Whether one end of "from 0900 hours to 1700 hours" begins with a zero, so that both are times; also "0900 to 1700
/// hours".
bool is_beside_time(const EnglishCursor& text) {
  const auto is_early = [](std::string_view digits) { return may_be_time(digits) && digits.front() == '0'; };
  const auto joins = [](std::string_view word) { return word == "to" || word == "until" || word == "till"; };
  const bool is_last =
      joins(text.small_before()) &&
      (is_early(text.small_before(2)) || (is_hours(text.small_before(2)) && is_early(text.small_before(3))));
  const bool is_first = joins(text.core(2)) && is_early(text.core(3)) && is_hours(text.core(4));
  if (is_hours(text.core(1))) return is_last || is_first;
  return is_early(text.core(0)) && joins(text.core(1)) && may_be_time(text.core(2)) && is_hours(text.core(3));
}

/// "0930 GMT", "at 1430 hours": a time of day without a colon, not "2000 hours per year" or "2000 CT scans".
bool read_time_of_four_digits(EnglishCursor& text) {
  constexpr std::size_t kHour = 2;
  const auto time = text.core(0), next = text.core(1);
  if (!may_be_time(time) || !text.token(0)->behind.empty()) return false;
  const auto hour = time.substr(0, kHour), minute = time.substr(kHour);
  const bool counts = describes_noun(text, "", 2) && text.core(2).ends_with('s');  // "2000 EST units"
  const bool is_sure_zone =
      (next.size() > 2 && !counts) || time.front() == '0' || (is_at_time(text) && !describes_noun(text, "", 2));
  const bool is_of_zone = is_time_zone(next) && is_sure_zone;
  const bool is_of_hours = (is_hours(next) && (time.front() == '0' || is_at_time(text))) || is_beside_time(text);
  if (!is_of_zone && !is_of_hours) return false;
  const auto words_of = [](std::string_view part) {
    return (part.front() == '0' ? "oh " : "") + cardinal_words(std::to_string(number_of(part)));
  };
  text.add_words((hour == "00" ? "zero" : words_of(hour)) + " " + (minute == "00" ? "hundred" : words_of(minute)));
  return true;
}

}  // namespace

bool read_time(EnglishCursor& text) {
  const auto is_half = [](std::string_view word) { return word == "noon" || word == "midnight"; };
  if (const auto small = ascii_lower(text.core(0)); small.starts_with("12:00")) {
    const auto rest = small.substr(std::string_view("12:00").size());
    if (is_half(rest) || (rest.empty() && is_half(ascii_lower(text.core(1))))) {  // "12:00Noon", "12:00 noon"
      text.add_words(rest.empty() ? "twelve" : "twelve " + rest);
      return true;
    }
  }
  if (read_duration(text) || read_time_of_four_digits(text)) return true;
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
  const auto point = text.core(0).find('.');
  if (half && point != std::string_view::npos && point + 3 == text.core(0).size()) {  // "8.30 a.m."
    std::string digits(text.core(0));
    digits[point] = ':';
    if (clock_time(digits, true)) text.replace_core(std::move(digits));
  } else if (point != std::string_view::npos && point + 5 == text.core(0).size() &&
             half_of_day(text.core(0).substr(point + 3))) {
    std::string joined(text.core(0));  // "7.30pm"
    joined[point] = ':';
    if (clock_time(joined, true)) text.replace_core(std::move(joined));
  }
  if (is_time_with_point(text)) {
    std::string time(text.core(0));
    time[point] = ':';
    text.replace_core(std::move(time));
  }
  const auto time = clock_time(text.core(0), half.has_value());
  if (!time) return false;
  text.add_words(time->words);
  const bool is_behind = time->half.empty() && half;
  if (is_behind) text.advance();
  text.spell(is_behind ? *half : time->half);
  if (text.core(0).find('.') != std::string_view::npos) text.take_point();
  return true;
}

}  // namespace tutti
