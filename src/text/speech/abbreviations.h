#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// What English writes shortly, by what it is written with, without the point behind them.
// All functions are pure.

/// "Mr" is "mister", "etc" "et cetera", "Ft" before a name "fort".
/// `next_is_name`: whether a word with a capital follows, for "St" and "Dr".
/// `has_point`: some are short only with a point behind them ("No.", "in.").
std::optional<std::string_view> long_form(std::string_view word, bool has_point, bool next_is_name);

/// A state of the USA that is written so only behind a town and before a point: "Mo" is "missouri", "Pa"
/// "pennsylvania".
std::optional<std::string_view> short_state(std::string_view word);

/// Whether a word, long or short, ends the names of streets: "Street", "Ave".
bool is_street_word(std::string_view word);

/// The weekday of its name or its short form, which begin with a capital: "Mon" and "Mon." are "monday".
/// "Sat" and "Sun" are words, too: the caller has to look at what is behind them.
std::optional<std::string_view> weekday_name(std::string_view word);

/// The half of a day, "am" or "pm", in any case and with or without points; none for other text.
std::optional<std::string> half_of_day(std::string_view word);

/// Whether it is the short name of a time zone, in capitals: "GMT", "EST", "UTC".
bool is_time_zone(std::string_view word);

/// The month of its name or its short form, which begin with a capital: "Nov" is "november".
std::optional<std::string_view> month_name(std::string_view word);

/// The month by its number, 1 to 12: 11 is "november".
/// Any other number is the nearest of them.
std::string_view month_name(int number);

/// What an amount of money is multiplied by, in any case.
/// "m" and "million" are "million", "k" is "thousand", "bn" "billion". None for others.
std::optional<std::string_view> scale_name(std::string_view text);

}  // namespace tutti
