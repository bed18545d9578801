#include <map>

#include "text/english/numbers.h"

namespace tutti {
namespace {

using Words = std::map<std::string, NumberWord, std::less<>>;

void add_ones(Words& words) {
  static constexpr std::string_view kOnes[] = {
      "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",    "ten",
      "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  const auto ordinal = [&](std::string word, int value, const char* suffix) {
    words[std::move(word)] = {NumberKind::one_suffixed, std::to_string(value), suffix};
  };
  int value = 0;
  for (const std::string_view one : kOnes) {
    const std::string name(one);
    words[name] = {NumberKind::one, std::to_string(++value), {}};
    ordinal(name == "six" ? "sixes" : name + "s", value, "s");
    if (value > 3 && value != 5 && value != 12) ordinal(name + (name.ends_with('t') ? "h" : "th"), value, "th");
  }
  ordinal("zeroth", 0, "th");
  ordinal("first", 1, "st");
  ordinal("second", 2, "nd");
  ordinal("third", 3, "rd");
  ordinal("fifth", 5, "th");
  ordinal("twelfth", 12, "th");
}

void add_tens(Words& words) {
  int value = 10;
  for (const char* stem : {"twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet"}) {
    const std::string digits = std::to_string(value += 10), name(stem);
    words[name + "y"] = {NumberKind::ten, digits, {}};
    words[name + "ies"] = {NumberKind::ten_suffixed, digits, "s"};
    words[name + "ieth"] = {NumberKind::ten_suffixed, digits, "th"};
  }
}

void add_multipliers(Words& words) {
  const auto add = [&](const std::string& name, std::size_t zeros) {
    const std::string digits = "1" + std::string(zeros, '0');
    words[name] = {NumberKind::multiplier, digits, {}};
    words[name + "s"] = {NumberKind::multiplier_suffixed, digits, "s"};
    words[name + "th"] = {NumberKind::multiplier_suffixed, digits, "th"};
  };
  add("hundred", 2);
  std::size_t zeros = 0;
  for (const char* name : {"thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion",
                           "septillion", "octillion", "nonillion", "decillion"})
    add(name, zeros += 3);
}

void add_signs(Words& words) {
  using enum NumberKind;
  for (const char* name : {"minus", "negative"}) words[name] = {preceding_prefix, "-", {}};
  for (const char* name : {"plus", "positive"}) words[name] = {preceding_prefix, "+", {}};
  for (const char* name : {"pound", "pounds"}) words[name] = {following_prefix, "£", {}};
  for (const char* name : {"euro", "euros"}) words[name] = {following_prefix, "€", {}};
  for (const char* name : {"dollar", "dollars"}) words[name] = {following_prefix, "$", {}};
  for (const char* name : {"cent", "cents"}) words[name] = {following_prefix, "¢", {}};
  for (const char* name : {"per", "percent"}) words[name] = {suffix, "%", {}};
  for (const char* name : {"and", "double", "triple", "point"}) words[name] = {special, {}, {}};
}

Words all_words() {
  Words words;
  for (const char* name : {"o", "oh", "zero"}) words[name] = {NumberKind::zero, "0", {}};
  add_ones(words);
  add_tens(words);
  add_multipliers(words);
  add_signs(words);
  return words;
}

}  // namespace

const NumberWord* number_word(std::string_view word) {
  static const Words words = all_words();
  const auto found = words.find(word);
  return found == words.end() ? nullptr : &found->second;
}

}  // namespace tutti
