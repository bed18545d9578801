#include "text/speech/abbreviations.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace tutti {
namespace {

struct ShortForm {
  std::string_view written;
  std::string_view words;
};

/// Short with or without a point.
constexpr std::array<ShortForm, 36> kAlways{{
    {"mr", "mister"},        {"mrs", "missus"},       {"ms", "miz"},           {"messrs", "messieurs"},
    {"prof", "professor"},   {"rev", "reverend"},     {"capt", "captain"},     {"col", "colonel"},
    {"lieut", "lieutenant"}, {"lt", "lieutenant"},    {"sgt", "sergeant"},     {"gov", "governor"},
    {"jr", "junior"},        {"etc", "et cetera"},    {"vs", "versus"},        {"viz", "namely"},
    {"esq", "esquire"},      {"hon", "honorable"},    {"dept", "department"},  {"approx", "approximately"},
    {"ave", "avenue"},       {"blvd", "boulevard"},   {"mt", "mount"},         {"vol", "volume"},
    {"ltd", "limited"},      {"corp", "corporation"}, {"eg", "for example"},   {"ie", "that is"},
    {"e.g", "for example"},  {"i.e", "that is"},      {"inc", "incorporated"}, {"ph.d", "p h d"},
    {"w/o", "without"},      {"w/", "with"},          {"c/o", "care of"},      {"b/c", "because"},
}};

/// Words of their own without a point.
constexpr std::array<ShortForm, 14> kWithPoint{{
    {"no", "number"},
    {"nos", "numbers"},
    {"gen", "general"},
    {"maj", "major"},
    {"sr", "senior"},
    {"co", "company"},
    {"fig", "figure"},
    {"ch", "chapter"},
    {"sec", "section"},
    {"art", "article"},
    {"pp", "pages"},
    {"p", "page"},
    {"ed", "edition"},
    {"pres", "president"},
}};

constexpr std::array<std::string_view, 7> kWeekdays{"monday", "tuesday",  "wednesday", "thursday",
                                                    "friday", "saturday", "sunday"};

constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};

template <class Forms>
std::optional<std::string_view> found_in(const Forms& forms, std::string_view word) {
  const auto found = std::ranges::find(forms, word, &ShortForm::written);
  if (found == forms.end()) return std::nullopt;
  return found->words;
}

}  // namespace

std::optional<std::string_view> long_form(std::string_view word, bool has_point, bool next_is_name) {
  const std::string small = ascii_lower(word);
  const bool is_capital = !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
  if (is_capital && small == "st") return next_is_name ? "saint" : "street";
  if (is_capital && small == "dr") return next_is_name || !has_point ? "doctor" : "drive";
  if (word == "Ft" && next_is_name) return "fort";
  if (word == "WWI") return "world war one";
  if (word == "WWII") return "world war two";
  // What capitals alone spell is no short form: "IE", "CO".
  const bool all_capitals = word.size() > 1 && small != word && ascii_upper(word) == word && small != "mr";
  if (all_capitals) return std::nullopt;
  if (const auto form = found_in(kAlways, small)) return form;
  return has_point ? found_in(kWithPoint, small) : std::nullopt;
}

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

std::optional<std::string_view> scale_name(std::string_view text) {
  constexpr std::array<ShortForm, 12> kScales{{{"hundred", "hundred"},
                                               {"thousand", "thousand"},
                                               {"k", "thousand"},
                                               {"million", "million"},
                                               {"m", "million"},
                                               {"mn", "million"},
                                               {"billion", "billion"},
                                               {"b", "billion"},
                                               {"bn", "billion"},
                                               {"trillion", "trillion"},
                                               {"t", "trillion"},
                                               {"tn", "trillion"}}};
  return found_in(kScales, ascii_lower(text));
}

}  // namespace tutti
