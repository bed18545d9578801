#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

using Named = std::pair<std::string_view, std::string_view>;

constexpr auto kStates =
    std::to_array<Named>({{"AL", "alabama"},        {"AK", "alaska"},         {"AZ", "arizona"},
                          {"AR", "arkansas"},       {"CA", "california"},     {"CO", "colorado"},
                          {"CT", "connecticut"},    {"DE", "delaware"},       {"DC", "d c"},
                          {"FL", "florida"},        {"GA", "georgia"},        {"HI", "hawaii"},
                          {"ID", "idaho"},          {"IL", "illinois"},       {"IN", "indiana"},
                          {"IA", "iowa"},           {"KS", "kansas"},         {"KY", "kentucky"},
                          {"LA", "louisiana"},      {"ME", "maine"},          {"MD", "maryland"},
                          {"MA", "massachusetts"},  {"MI", "michigan"},       {"MN", "minnesota"},
                          {"MS", "mississippi"},    {"MO", "missouri"},       {"MT", "montana"},
                          {"NE", "nebraska"},       {"NV", "nevada"},         {"NH", "new hampshire"},
                          {"NJ", "new jersey"},     {"NM", "new mexico"},     {"NY", "new york"},
                          {"NC", "north carolina"}, {"ND", "north dakota"},   {"OH", "ohio"},
                          {"OK", "oklahoma"},       {"OR", "oregon"},         {"PA", "pennsylvania"},
                          {"RI", "rhode island"},   {"SC", "south carolina"}, {"SD", "south dakota"},
                          {"TN", "tennessee"},      {"TX", "texas"},          {"UT", "utah"},
                          {"VT", "vermont"},        {"VA", "virginia"},       {"WA", "washington"},
                          {"PR", "puerto rico"},    {"WV", "west virginia"},  {"WI", "wisconsin"},
                          {"WY", "wyoming"}});

/// Of Canada.
constexpr auto kProvinces = std::to_array<Named>({{"AB", "alberta"},
                                                  {"BC", "b c"},
                                                  {"MB", "manitoba"},
                                                  {"NB", "new brunswick"},
                                                  {"NL", "newfoundland and labrador"},
                                                  {"NS", "nova scotia"},
                                                  {"ON", "ontario"},
                                                  {"PE", "p e i"},
                                                  {"QC", "quebec"},
                                                  {"SK", "saskatchewan"}});

constexpr auto kDirections = std::to_array<Named>({{"N", "north"},
                                                   {"S", "south"},
                                                   {"E", "east"},
                                                   {"W", "west"},
                                                   {"NE", "northeast"},
                                                   {"NW", "northwest"},
                                                   {"SE", "southeast"},
                                                   {"SW", "southwest"},
                                                   {"NNE", "north northeast"},
                                                   {"ENE", "east northeast"},
                                                   {"ESE", "east southeast"},
                                                   {"SSE", "south southeast"},
                                                   {"SSW", "south southwest"},
                                                   {"WSW", "west southwest"},
                                                   {"WNW", "west northwest"},
                                                   {"NNW", "north northwest"}});

std::optional<std::string_view> found_in(std::span<const Named> names, std::string_view word) {
  const auto found = std::ranges::find(names, word, &Named::first);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

bool is_zip_code(std::string_view word) {
  constexpr std::size_t kZip = 5, kMore = 4;
  const auto parts = split(word, '-');
  return std::ranges::all_of(parts, is_all_digits) && !parts.empty() && parts[0].size() == kZip &&
         (parts.size() == 1 || (parts.size() == 2 && parts[1].size() == kMore));
}

bool is_capitalised(std::string_view word) {
  return !word.empty() && is_ascii_upper(word.front());
}

/// "M5C" of "M5C 1S1".
bool begins_canadian_code(std::string_view word) {
  return word.size() == 3 && is_ascii_upper(word[0]) && is_ascii_digit(word[1]) && is_ascii_upper(word[2]);
}

/// "2J2" of "M5J 2J2".
bool ends_canadian_code(std::string_view word) {
  return word.size() == 3 && is_ascii_digit(word[0]) && is_ascii_upper(word[1]) && is_ascii_digit(word[2]);
}

/// "M5J 2J2", character by character.
bool read_canadian_code(EnglishCursor& text) {
  if (!begins_canadian_code(text.core(0)) || !ends_canadian_code(text.core(1)) || !text.token(0)->behind.empty())
    return false;
  const auto read = [&] {
    for (const char c : std::string(text.core(0)))
      is_ascii_digit(c) ? text.add_words(digit_words({&c, 1})) : text.spell({&c, 1});
  };
  read();
  text.advance();
  read();
  return true;
}

/// "Toronto, ON", "Ottawa ON K1A 0B1".
bool read_province(EnglishCursor& text) {
  const auto province = found_in(kProvinces, text.core(0));
  const auto* before = text.before();
  if (!province || !before || !is_capitalised(before->core) || text.is_shouted()) return false;
  const bool is_last = text.core(1).empty() || !text.token(0)->behind.empty();
  if (!begins_canadian_code(text.core(1)) && !(before->behind == "," && is_last)) return false;
  text.add_words(*province);
  return true;
}

/// "D-MN": the party and the state of a member of the Congress.
bool read_party(EnglishCursor& text) {
  constexpr std::string_view kParties = "DRI";
  constexpr std::size_t kLength = 4;
  const auto word = text.core(0);
  if (word.size() != kLength || word[1] != '-' || kParties.find(word[0]) == kParties.npos) return false;
  const auto state = found_in(kStates, word.substr(2));
  if (!state) return false;
  text.spell(word.substr(0, 1));
  text.add_words(*state);
  return true;
}

/// "NY 10118" and, behind a town, "Austin, TX". Titles of physicians and the like are none: "Ann Lee, MD".
bool read_state(EnglishCursor& text) {
  std::string written(text.core(0));
  std::erase(written, '.');  // "N.Y.", "D.C."
  const bool is_dotted = written.size() < text.core(0).size(), has_point = text.token(0)->has_point();
  const auto* before = text.before();
  const bool is_behind_comma = before && before->behind == "," && is_capitalised(before->core) && !text.is_shouted();
  const auto short_form = has_point && is_behind_comma ? short_state(written) : std::nullopt;
  const auto state = short_form ? short_form : found_in(kStates, written);
  if (!state) return false;
  const auto& behind = text.token(0)->behind;
  const bool has_zip = (behind.empty() || (is_dotted && behind == ".")) && is_zip_code(text.core(1));
  constexpr auto kTitles = std::to_array<std::string_view>({"MD", "PA", "MA", "MS", "LA", "OK", "DC", "PR"});
  constexpr auto kAlsoWords = std::to_array<std::string_view>({"IN", "OR", "ME", "HI", "OH", "ID"});
  const auto is_one_of = [&](const auto& list) { return std::ranges::find(list, written) != list.end(); };
  if (short_form || (is_dotted && is_behind_comma && !is_one_of(kTitles))) {
    text.take_point();
    text.add_words(*state);
    return true;
  }
  const bool is_before_date = month_name(text.core(1)).has_value();  // of a news item: "HOUSTON, TX March 21"
  const bool is_last = text.core(1).empty() || !behind.empty();
  const bool is_behind_town = is_behind_comma && !is_dotted &&
                              (is_one_of(kTitles)      ? behind == "," && is_before_date
                               : is_one_of(kAlsoWords) ? is_last
                                                       : true);
  if (!has_zip && !is_behind_town) return false;
  text.add_words(*state);
  if (!has_zip) return true;
  text.advance();
  for (const auto group : split(text.core(0), '-')) text.add_words(digit_words(group));
  return true;
}

/// Whether a name that ends in a word for streets begins `ahead`: "Fifth Ave.", "Main St."
bool is_street(const EnglishCursor& text, std::size_t ahead) {
  constexpr std::size_t kMostWords = 4;
  for (std::size_t word = ahead; word < ahead + kMostWords; ++word) {
    const auto core = text.core(word);
    if (!is_capitalised(core) && !is_ordinal(core)) return false;
    if (word > ahead && is_street_word(core)) return true;
    const bool is_last = text.token(word)->behind.find_first_not_of('.') != std::string::npos;
    if (is_last) return false;
  }
  return false;
}

/// "45 N. Main St.", "W. 42nd St.", "Ave. NW", "Elm Street W".
bool read_direction(EnglishCursor& text) {
  const auto direction = found_in(kDirections, text.core(0));
  const auto* before = text.before();
  if (!direction || text.is_shouted()) return false;
  const bool is_behind = before && before->behind.find_first_not_of('.') == std::string::npos &&
                         is_capitalised(before->core) && is_street_word(before->core);
  const auto is_wind = [](std::string_view word) { return word == "wind" || word == "winds"; };
  const auto next = text.core(1);
  const auto starts_with_digit = [](std::string_view word) { return !word.empty() && is_ascii_digit(word.front()); };
  const bool is_before_speed =
      (starts_with_digit(next) && next.find('-') != next.npos) || (next == "at" && starts_with_digit(text.core(2)));
  const bool is_before_range = text.core(0).size() > 1 && is_before_speed;  // "Wind: NE 10-15", "SSE at 5"
  const bool is_of_wind = is_before_range || is_wind(text.small_before()) || is_wind(ascii_lower(next));
  const bool is_before_ordinal = text.token(0)->has_point() && is_ordinal(text.core(1));  // "E. 10th"
  constexpr auto kMoves = std::to_array<std::string_view>(
      {"go", "head", "turn", "drive", "travel", "heading", "miles", "mi", "exit", "facing", "continue", "traveling"});
  const bool is_of_degrees = before && before->behind.empty() && before->core.ends_with("\u00B0");  // "51.5\u00B0 N"
  const bool is_off = next == "of" && before && unit_name(before->core, true);                      // "4 mi. N of town"
  const bool is_way = text.token(0)->has_point() && !text.next_is_name() &&  // "Go S. on Hwy. 61"
                      std::ranges::find(kMoves, text.small_before()) != kMoves.end();
  if (!is_behind && !is_of_degrees && !is_off && !is_way && !is_before_ordinal && !is_route(text, 1) && !is_of_wind &&
      !is_street(text, 1))
    return false;
  text.take_point();
  text.add_words(*direction);
  return true;
}

/// "350 Fifth Ave.", "221B Baker St.": digits in pairs.
bool read_street_number(EnglishCursor& text) {
  const auto word = text.core(0);
  const auto digits = word.substr(0, std::min(word.find_first_not_of("0123456789"), word.size()));
  const auto suffix = word.substr(digits.size());
  constexpr std::size_t kLeast = 3, kMost = 4;
  const bool is_number = digits.size() >= kLeast && digits.size() <= kMost && digits.front() != '0' &&
                         (suffix.empty() || (suffix.size() == 1 && is_ascii_alphabetic(suffix.front())));
  if (!is_number || !text.token(0)->behind.empty()) return false;
  const bool has_direction = found_in(kDirections, text.core(1)).has_value();
  if (!is_street(text, has_direction ? 2 : 1)) return false;
  text.add_words(paired_words(digits));
  text.spell(suffix);
  return true;
}

/// "75002 Paris" behind a comma, "USA 92606", "New York 10022".
bool read_postal_code(EnglishCursor& text) {
  constexpr std::size_t kDigits = 5;
  const auto* before = text.before();
  const auto code = text.core(0);
  if (code.size() != kDigits || !is_all_digits(code) || !before || text.is_shouted()) return false;
  const bool is_before_town = before->behind == "," && text.next_is_name();
  const auto name = text.small_before();
  const bool is_behind_country = name == "usa" || name == "u.s.a";
  const bool is_behind_state =
      before->behind.empty() && is_capitalised(before->core) && std::ranges::any_of(kStates, [&](const Named& state) {
        return state.second == name || state.second.ends_with(" " + name);
      });
  if (!is_before_town && !is_behind_country && !is_behind_state) return false;
  text.add_words(digit_words(code));
  return true;
}

}  // namespace

bool is_ordinal(std::string_view word) {
  return !word.empty() && is_ascii_digit(word.front()) &&
         (word.ends_with("st") || word.ends_with("nd") || word.ends_with("rd") || word.ends_with("th"));
}

bool is_route(const EnglishCursor& text, std::size_t back) {
  constexpr auto kRoutes =
      std::to_array<std::string_view>({"route", "rte", "hwy", "highway", "interstate", "us", "u.s", "sr"});
  constexpr auto kJoined = std::to_array<std::string_view>({"I", "US", "SR"});
  const auto* token = back == 0 ? text.token(0) : text.before(back);
  if (!token || token->is_ipa) return false;
  const auto parts = split(token->core, '-');
  if (parts.size() == 2) return is_all_digits(parts[1]) && std::ranges::find(kJoined, parts[0]) != kJoined.end();
  return is_all_digits(token->core) && std::ranges::find(kRoutes, text.small_before(back + 1)) != kRoutes.end();
}

bool read_address_part(EnglishCursor& text) {
  return read_party(text) || read_state(text) || read_province(text) || read_direction(text) ||
         read_street_number(text) || read_postal_code(text) || read_canadian_code(text);
}

}  // namespace tutti
