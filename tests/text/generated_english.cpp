#include "generated_text.h"

namespace tutti {
namespace {

constexpr std::string_view kEnglish[] = {
    "one",       "two",      "three",    "five",    "six",       "nine",      "ten",       "eleven",    "twelve",
    "thirteen",  "nineteen", "twenty",   "thirty",  "forty",     "ninety",    "zero",      "oh",        "o",
    "hundred",   "thousand", "million",  "billion", "decillion", "hundreds",  "thousands", "millionth", "hundredth",
    "ones",      "twos",     "sixes",    "first",   "second",    "third",     "fifth",     "twelfth",   "zeroth",
    "twentieth", "sixties",  "nineties", "minus",   "negative",  "plus",      "positive",  "pound",     "pounds",
    "euro",      "euros",    "dollar",   "dollars", "cent",      "cents",     "per",       "percent",   "and",
    "and",       "and",      "double",   "triple",  "point",     "point",     "a",         "half",      "the",
    "of",        "hello",    "colour",   "analyse", "travelled", "favourite", "won't",     "can't",     "let's",
    "ain't",     "y'all",    "wanna",    "gotta",   "gonna",     "i'ma",      "imma",      "woulda",    "ma'am",
    "Mr.",       "Mrs",      "St",       "Dr",      "Prof.",     "Capt",      "rep.",      "jr",        "esq",
    "he'd",      "been",     "she's",    "gone",    "it's",      "got",       "they'd",    "done",      "don't",
    "we're",     "Bob's",    "I'd",      "you'll",  "'t",        "I've",      "I'm",       "hmm",       "uh",
    "um",        "mm",       "uh-huh"};
constexpr std::string_view kDigits[] = {
    "0",     "1",     "2",          "7",         "10",     "20",         "21",  "100",
    "1000",  "1,000", "12,345,678", "3.5",       "3.0",    "3.",         ".5",  "1.2.3",
    "007",   "1960s", "21st",       "2nd",       "3 rd",   "4 th",       "1s",  "$5",
    "$5.50", "$0.07", "$0.5",       "£10",       "€1,000", "¢7",         "5¢",  "50%",
    "%",     "%%",    "$",          "$$",        "1st",    "٣",          "٣.٥", "½",
    "2nd.",  "a1b2",  "10am",       "$2 and ¢7", "£3 ¢50", "€3 and ¢5s", "1's", "99999999999999999999",
    "0.001", "1 2 3", "192.168.0.1"};
/// Behind kPlainJoints times a single space.
constexpr std::string_view kJoints[] = {"  ", ", ", ". ", "-",  " - ", "\n", "! ", "? ", " (",     ") ",
                                        " [", "] ", " <", "> ", " '",  "'",  "é ", "",   "\u00a0", "... "};
constexpr std::uint32_t kPlainJoints = 12;

/// str.upper() for the characters of the tables above: ASCII and the two others that have a capital.
std::string upper(const std::string& text) {
  std::string out;
  for (const char32_t value : to_code_points(text)) {
    const bool small = (value >= U'a' && value <= U'z') || value == U'é';
    append_utf8(out, small ? value - 0x20 : value);
  }
  return out;
}

}  // namespace

std::string generated_english(std::uint64_t index) {
  Lcg lcg(index + 1'000'000);
  std::string text;
  for (std::uint32_t left = 1 + lcg.pick(14); left > 0; --left) {
    const std::span<const std::string_view> some =
        lcg.pick(4) == 0 ? std::span<const std::string_view>(kDigits) : std::span<const std::string_view>(kEnglish);
    text += some[lcg.pick(static_cast<std::uint32_t>(some.size()))];
    const std::uint32_t joint = lcg.pick(kPlainJoints + std::size(kJoints));
    text += joint < kPlainJoints ? " " : kJoints[joint - kPlainJoints];
  }
  return lcg.pick(8) == 0 ? upper(text) : text;
}

}  // namespace tutti
