#include "text/speech/digit_groups.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/number_words.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool is_lower_case(char c) {
  return c >= 'a' && c <= 'z';
}

/// The groups of a text, where there are `least` at least, all of digits.
std::vector<std::string_view> groups_of(std::string_view text, char separator, std::size_t least) {
  auto groups = split(text, separator);
  if (groups.size() < least || !std::ranges::all_of(groups, is_all_digits)) groups.clear();
  return groups;
}

/// "1.000.000", not "192.168.100.200".
bool are_thousands(const std::vector<std::string_view>& groups) {
  constexpr std::size_t kOfNetwork = 4, kDigits = 3;
  constexpr std::string_view kMostOfNetwork = "255";
  if (groups.empty() || groups[0].size() > kDigits || groups[0].front() == '0') return false;
  const auto behind = std::span(groups).subspan(1);
  const bool is_network = groups.size() == kOfNetwork && std::ranges::all_of(behind, [&](auto group) {
                            return group <= kMostOfNetwork && group != "000";
                          });
  return !is_network && std::ranges::all_of(behind, [](auto group) { return group.size() == kDigits; });
}

std::optional<std::string> telephone_words(std::string_view text) {
  constexpr std::size_t kArea = 3, kLine = 4;
  const auto dotted = groups_of(text, '.', 3);  // "212.555.0147"
  if (dotted.size() == 3 && dotted[0].size() == kArea && dotted[1].size() == kArea && dotted[2].size() == kLine)
    return joined(dotted, " ", [](std::string_view group) { return digit_words(group); });
  const auto groups = groups_of(text, '-', 2);
  constexpr std::size_t kRecord = 3, kMostDrawn = 2;
  const bool is_record = groups.size() == kRecord && groups[0].size() > 1 && groups[0].size() <= kRecord &&
                         groups[1].size() <= kMostDrawn && groups[2].size() == 1 && groups[0].front() != '0' &&
                         (groups[1].size() == 1 || groups[1].front() != '0');
  if (is_record)  // "10-3-1": won, lost and drawn
    return cardinal_words(groups[0]) + " " + cardinal_words(groups[1]) + " and " + cardinal_words(groups[2]);
  const bool has_zero =
      std::ranges::any_of(groups, [](std::string_view group) { return group.size() > 1 && group.front() == '0'; });
  // "555-1234", but not "100-1000"
  const bool is_local = groups.size() == 2 && groups[0].size() == 3 && groups[1].size() == 4 &&
                        (groups[0].back() != '0' || groups[1].back() != '0');
  const bool is_zip = groups.size() == 2 && groups[0].size() == 5 && groups[1].size() == 4;  // "90210-1234"
  if (groups.empty() || (groups.size() < 3 && !has_zero && !is_local && !is_zip)) return std::nullopt;
  return joined(groups, " ", [](std::string_view group) { return digit_words(group); });
}

std::optional<std::string> scientific_words(std::string_view text) {
  const auto e = text.find_first_of("eE");
  if (e == text.npos) return std::nullopt;
  const auto number = text.substr(0, e);
  auto power = text.substr(e + 1);
  const bool is_negative = power.starts_with('-');
  if (is_negative || power.starts_with('+')) power.remove_prefix(1);
  const auto parts = split(number, '.');
  if (parts.size() > 2 || !std::ranges::all_of(parts, is_all_digits) || !is_all_digits(power)) return std::nullopt;
  return decimal_words(number) + " times ten to the " + (is_negative ? "minus " : "") + cardinal_words(power);
}

std::optional<std::string> ratio_words(std::string_view text) {
  const auto groups = groups_of(text, ':', 2);
  if (groups.empty()) return std::nullopt;
  return joined(groups, " to ", [](std::string_view group) { return cardinal_words(group); });
}

std::optional<std::string> height_words(std::string_view text) {
  constexpr std::size_t kMost = 2;
  const auto groups = groups_of(text, '\'', 2);
  if (groups.size() != 2 || groups[0].size() > kMost || groups[1].size() > kMost) return std::nullopt;
  return cardinal_words(groups[0]) + " foot " + cardinal_words(groups[1]);
}

std::optional<std::string_view> sign_of_address(char32_t sign) {
  switch (sign) {
    case U'.': return "dot";
    case U'/': return "slash";
    case U':': return "colon";
    case U'-': return "dash";
    case U'_': return "underscore";
    case U'?': return "question mark";
    case U'#': return "hash";
    case U'&': return "and";
    case U'+': return "plus";
    case U'=': return "equals";
    case U'@': return "at";
    case U'%': return "percent";
    case U'~': return "tilde";
    default: return std::nullopt;
  }
}

bool is_address(std::string_view text) {
  if (text.find("://") != text.npos || text.starts_with("www.")) return true;
  const auto at = text.find('@');
  if (at != text.npos && at > 0 && at + 1 < text.size()) return true;
  for (std::size_t i = 2; i + 2 < text.size(); ++i)
    if (text[i] == '.' && is_lower_case(text[i - 1]) && is_lower_case(text[i - 2]) && is_lower_case(text[i + 1]) &&
        is_lower_case(text[i + 2]))
      return true;
  return false;
}

/// "12,34,567": behind groups of two digits one of three. `end`, where the first group ends, for other text.
std::size_t end_of_indian_groups(std::string_view text, std::size_t end) {
  constexpr std::size_t kPair = 3, kLast = 4;  // with their commas
  const auto digits_behind = [&](std::size_t at) {
    return at < text.size() && text[at] == ','
               ? std::min(text.find_first_not_of("0123456789", at + 1), text.size()) - at
               : 0;
  };
  std::size_t at = end;
  while (digits_behind(at) == kPair) at += kPair;
  return end < kPair && at > end && digits_behind(at) == kLast ? at + kLast : end;
}

}  // namespace

std::string_view number_at_front(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_ascii_digit(text[end])) ++end;
  const bool in_groups = end >= 1 && end <= 3;
  const auto is_group = [&](std::size_t at) {
    return at + 3 < text.size() && text[at] == ',' && is_all_digits(text.substr(at + 1, 3)) &&
           (at + 4 == text.size() || !is_ascii_digit(text[at + 4]));
  };
  const auto indian = in_groups ? end_of_indian_groups(text, end) : end;
  if (indian > end)
    end = indian;
  else
    while (in_groups && is_group(end)) end += 4;
  if (end + 1 < text.size() && text[end] == '.' && is_ascii_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_ascii_digit(text[end])) ++end;
  }
  return text.substr(0, end);
}

std::string without_commas(std::string_view digits) {
  std::string plain(digits);
  std::erase(plain, ',');
  return plain;
}

bool may_be_year(std::string_view digits) {
  constexpr std::size_t kOfYear = 4;
  return digits.size() == kOfYear && is_all_digits(digits) && digits >= "1100" && digits <= "2099";
}

std::optional<std::string> digit_group_words(std::string_view text) {
  constexpr std::size_t kLongestCount = 9;
  if (text.size() > kLongestCount && is_all_digits(text)) return digit_words(text);  // of an ISBN, an account
  constexpr std::size_t kOfNetwork = 4;
  const auto version = groups_of(text.starts_with('v') ? text.substr(1) : std::string_view(), '.', 1);
  if (!version.empty())
    return "version " + joined(version, " point ", [](std::string_view group) { return cardinal_words(group); });
  if (const auto end = text.find_last_of(":/"); end != text.npos && is_all_digits(text.substr(end + 1)) &&
                                                groups_of(text.substr(0, end), '.', kOfNetwork).size() == kOfNetwork) {
    const auto behind = text.substr(end + 1);  // "127.0.0.1:8000", "10.1.2.0/24"
    return *digit_group_words(text.substr(0, end)) +
           (text[end] == ':' ? " colon " + paired_words(behind) : " slash " + cardinal_words(behind));
  }
  if (auto words = telephone_words(text)) return words;
  if (const auto groups = groups_of(text, '.', 3); are_thousands(groups)) return cardinal_words(joined(groups, ""));
  if (const auto groups = groups_of(text, '.', 3); !groups.empty())
    return joined(groups, groups.size() == kOfNetwork ? " dot " : " point ",
                  [](std::string_view group) { return cardinal_words(group); });
  if (auto words = scientific_words(text)) return words;
  if (auto words = ratio_words(text)) return words;
  return height_words(text);
}

namespace {

/// "00:03:15": how long something takes.
std::optional<ClockTime> duration(std::string_view minutes, std::string_view seconds) {
  const auto words = [](std::string_view part, std::string_view unit) {
    const auto value = std::to_string(std::stoi(std::string(part)));
    return cardinal_words(value) + " " + std::string(unit) + (value == "1" ? "" : "s");
  };
  if (minutes.size() != 2 || seconds.size() != 2) return std::nullopt;
  return ClockTime{(minutes == "00" ? "" : words(minutes, "minute") + " and ") + words(seconds, "second"), ""};
}

}  // namespace

std::optional<ClockTime> clock_time(std::string_view text, bool half_follows) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789:"));
  const auto rest = text.substr(digits.size());
  const bool is_half_short = digits.find(':') != digits.npos && (rest == "a" || rest == "p");  // "2:30p"
  const auto half = is_half_short ? std::optional(std::string(rest) + "m") : half_of_day(rest);
  if (digits.size() < text.size() && !half) return std::nullopt;
  const auto parts = split(digits, ':');
  const auto is_part = [](std::string_view part) { return is_all_digits(part) && part.size() <= 2; };
  if (parts.empty() || parts.size() > 3 || !std::ranges::all_of(parts, is_part)) return std::nullopt;
  const bool has_half = half || half_follows;
  if (parts.size() == 3 && parts[0] == "00" && !has_half) return duration(parts[1], parts[2]);
  const auto value = [&](std::size_t part) { return std::stoi(std::string(parts[part])); };
  const auto words = [&](std::size_t part) { return cardinal_words(std::to_string(value(part))); };
  constexpr int kHours = 12, kMinutes = 60;
  if (parts.size() == 1 && (!has_half || value(0) < 1 || value(0) > kHours)) return std::nullopt;
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (value(part) >= kMinutes || (part > 0 && parts[part].size() != 2)) return std::nullopt;
  ClockTime time{digits == "00:00" && !has_half ? "midnight" : words(0), half.value_or("")};
  const bool is_full = parts.size() == 2 && parts[1] == "00";
  if (is_full && !has_half && time.words != "midnight") time.words += value(0) > kHours ? " hundred" : " o'clock";
  if (parts.size() > 1 && !is_full) time.words += (parts[1].front() == '0' ? " oh " : " ") + words(1);
  if (parts.size() > 2) time.words += " and " + words(2) + " seconds";
  return time;
}

std::vector<AddressPart> address_parts(std::string_view text) {
  std::vector<AddressPart> parts;
  if (!is_address(text)) return parts;
  std::string part;
  // in the name of a file "_" parts words, and is not read
  const bool is_file = text.find_first_of("@/") == text.npos && !text.starts_with("www.");
  const auto end_part = [&] {
    constexpr std::array<std::string_view, 5> kSpelled{"http", "https", "ftp", "www", "html"};
    const bool is_spelled = std::ranges::find(kSpelled, ascii_lower(part)) != kSpelled.end();
    if (!part.empty()) parts.push_back({std::move(part), is_spelled});
    part.clear();
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto sign = code_point_at(text, i);
    const auto word = sign_of_address(sign.value);
    // digits and what is behind them are parts of their own
    if (word || (!part.empty() && is_ascii_digit(text[i]) != is_ascii_digit(part.back()))) end_part();
    if (word && !(is_file && sign.value == U'_'))
      parts.push_back({std::string(*word)});
    else if (word)
      part.clear();
    else
      part += text.substr(i, sign.size);
    i += sign.size;
  }
  end_part();
  return parts;
}

}  // namespace tutti
