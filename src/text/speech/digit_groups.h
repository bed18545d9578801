#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Digits and words that signs join to one: how English reads them aloud. All functions are pure.

/// A number at the front of `text`: "12", "1,234", "12,34,567", "3.14", ".5"; empty where there is none.
std::string_view number_at_front(std::string_view text);

std::string without_commas(std::string_view digits);

/// Whether four digits are read as a year: 1100 to 2099.
bool may_be_year(std::string_view digits);

/// Digits in groups as words; none for anything else.
/// "2.10.3" is "two point ten point three", "192.168.0.1" "one hundred ninety two dot …",
/// "555-0199" "five five five zero one nine nine", "16:9" "sixteen to nine", "6'2" "six foot two",
/// "1e-4" "one times ten to the minus four", "v2.10" "version two point ten".
/// Groups with "-" are telephone numbers where there are three or more, where one begins with a zero, and as
/// "555-1234"; two others are a range, and none of these. Times ("10:30") and dates have to be read before.
std::optional<std::string> digit_group_words(std::string_view text);

/// A time of day.
struct ClockTime {
  std::string words{};  ///< never empty: "ten thirty"
  std::string half{};   ///< "am" or "pm" where it is written without a blank, whose characters are read; else empty
};

/// "10:30", "10:05:09", "7:45pm", "8:15p.m", and "7am", or "7" where `half_follows`: whether "am" or "pm" is behind.
/// None for what is no time: "1.78:1", "16:9", "60:40".
std::optional<ClockTime> clock_time(std::string_view text, bool half_follows);

/// A part of an address: a word, digits, or characters that are read one by one.
struct AddressPart {
  std::string text{};       ///< never empty
  bool is_spelled = false;  ///< character by character
};

/// An address of the network or of mail in its parts, with its signs as words: "bob@example.com" is bob, at, example,
/// dot, com. "http", "www" and the like are spelled, and digits are parts of their own.
/// Empty for a text that is none: without "://", "@", "www." or a point between two words in lower case.
std::vector<AddressPart> address_parts(std::string_view text);

}  // namespace tutti
