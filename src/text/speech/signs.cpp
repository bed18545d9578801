#include "text/speech/signs.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// A sign that is read alike wherever it is.
constexpr Sign always(std::string_view written, std::string_view words) {
  return {written, words, words, words};
}

/// A sign that compares; before a number, what it is without "is".
constexpr Sign relation(std::string_view written, std::string_view between, std::string_view before = {}) {
  return {written, between, before, {}};
}

/// A sign before what it is about.
constexpr Sign ahead(std::string_view written, std::string_view words) {
  return {written, words, words, {}};
}

/// Longer signs come before those that they begin with.
constexpr auto kRelations = std::to_array<Sign>({
    relation("!==", "is not equal to", "not equal to"),
    relation("===", "equals", "equals"),
    relation("=/=", "is not equal to", "not equal to"),
    relation("<=>", "if and only if"),
    relation("!=", "is not equal to", "not equal to"),
    relation("<>", "is not equal to", "not equal to"),
    relation("==", "equals", "equals"),
    relation("<=", "is less than or equal to", "less than or equal to"),
    relation("=<", "is less than or equal to", "less than or equal to"),
    relation(">=", "is greater than or equal to", "greater than or equal to"),
    relation("=>", "implies", "implies"),
    relation(":=", "is set to"),
    relation("+=", "plus equals"),
    relation("-=", "minus equals"),
    relation("*=", "times equals"),
    relation("~=", "is approximately equal to", "approximately"),
    relation("<<", "is much less than", "much less than"),
    relation(">>", "is much greater than", "much greater than"),
    relation("=", "equals", "equals"),
    relation("<", "is less than", "less than"),
    relation(">", "is greater than", "greater than"),
    relation("\u2264", "is less than or equal to", "less than or equal to"),
    relation("\u2A7D", "is less than or equal to", "less than or equal to"),
    relation("\u2265", "is greater than or equal to", "greater than or equal to"),
    relation("\u2A7E", "is greater than or equal to", "greater than or equal to"),
    relation("\u2248", "is approximately equal to", "approximately"),
    relation("\u2243", "is approximately equal to", "approximately"),
    relation("\u2245", "is approximately equal to", "approximately"),
    relation("\u223C", "is about", "about"),
    relation("\u2261", "is identical to"),
    relation("\u221D", "is proportional to"),
    relation("\u226A", "is much less than", "much less than"),
    relation("\u226B", "is much greater than", "much greater than"),
    relation("\u2208", "is in"),
    relation("\u2282", "is a subset of"),
    relation("\u2286", "is a subset of"),
    relation("\u2225", "is parallel to"),
    relation("\u22A5", "is perpendicular to"),
    relation("\u21D2", "implies", "implies"),
    relation("\u21D4", "if and only if"),
    relation("\u2254", "is set to"),
});

constexpr auto kOthers = std::to_array<Sign>({
    always("+/-", "plus or minus"),
    always("-/+", "minus or plus"),
    always("\u00B1", "plus or minus"),
    always("\u2213", "minus or plus"),
    ahead("->", "to"),
    ahead("\u2192", "to"),
    always("\u2194", "to and from"),
    {"&&", "and", "and", ""},
    {"||", "or", "or", ""},
    {"**", "to the power of", "", ""},
    {"++", "plus plus", "plus plus", "plus plus"},
    always("+", "plus"),
    always("&", "and"),
    always("@", "at"),
    always("%", "percent"),
    always("\u2030", "per mille"),
    always("\u00D7", "times"),
    always("\u00F7", "divided by"),
    {"\u00B7", "times", "", ""},
    {"\u22C5", "times", "", ""},
    {"*", "times", "", ""},
    {"/", "divided by", "", ""},
    {"-", "minus", "minus", "minus"},
    {"^", "to the power of", "", ""},
    {"~", "tilde", "about", "tilde"},
    {"!", "", "not", "factorial"},
    ahead("#", "number"),
    ahead("\u00A7", "section"),
    ahead("\u00B6", "paragraph"),
    always("\\", "backslash"),
    always("\u00B0", "degrees"),
    always("\u00A2", "cents"),
    always("\u221E", "infinity"),
    always("\u00A9", "copyright"),
    always("\u00AE", "registered"),
    ahead("\u221A", "the square root of"),
    ahead("\u221B", "the cube root of"),
    ahead("\u2211", "the sum of"),
    ahead("\u220F", "the product of"),
    ahead("\u222B", "the integral of"),
    ahead("\u2202", "partial"),
    ahead("\u00AC", "not"),
    ahead("\u2200", "for all"),
    ahead("\u2203", "there is"),
    always("\u2205", "the empty set"),
    {"\u2227", "and", "", ""},
    {"\u2228", "or", "", ""},
    {"\u222A", "union", "", ""},
    {"\u2229", "intersection", "", ""},
});

struct GreekCharacter {
  char32_t capital;
  std::string_view name;
};

/// Small ones are 32 behind; the final sigma is apart.
constexpr auto kGreek = std::to_array<GreekCharacter>({
    {U'\u0391', "alpha"},  {U'\u0392', "beta"}, {U'\u0393', "gamma"}, {U'\u0394', "delta"}, {U'\u0395', "epsilon"},
    {U'\u0396', "zeta"},   {U'\u0397', "eta"},  {U'\u0398', "theta"}, {U'\u0399', "iota"},  {U'\u039A', "kappa"},
    {U'\u039B', "lambda"}, {U'\u039C', "mu"},   {U'\u039D', "nu"},    {U'\u039E', "xi"},    {U'\u039F', "omicron"},
    {U'\u03A0', "pi"},     {U'\u03A1', "rho"},  {U'\u03A3', "sigma"}, {U'\u03A4', "tau"},   {U'\u03A5', "upsilon"},
    {U'\u03A6', "phi"},    {U'\u03A7', "chi"},  {U'\u03A8', "psi"},   {U'\u03A9', "omega"},
});

template <class Signs>
const Sign* found_in(const Signs& signs, std::string_view text) {
  const auto found = std::ranges::find_if(signs, [&](const Sign& sign) { return text.starts_with(sign.written); });
  return found == signs.end() ? nullptr : &*found;
}

}  // namespace

const Sign* sign_at_front(std::string_view text) {
  const bool is_of_word = text.empty() || is_ascii_alphabetic(text.front()) || is_ascii_digit(text.front());
  if (is_of_word) return nullptr;
  const Sign* relation = found_in(kRelations, text);
  const Sign* other = found_in(kOthers, text);
  if (!relation || !other) return relation ? relation : other;
  return relation->written.size() >= other->written.size() ? relation : other;
}

bool is_relation(const Sign& sign) {
  return std::ranges::find(kRelations, sign.written, &Sign::written) != kRelations.end();
}

std::string negated_words(std::string_view words) {
  constexpr std::string_view kIs = "is ";
  if (words == "equals") return "is not equal to";
  if (!words.starts_with(kIs)) return "not " + std::string(words);
  return "is not " + std::string(words.substr(kIs.size()));
}

std::string_view greek_name(char32_t character) {
  constexpr char32_t kSmall = 0x20, kFinalSigma = U'\u03C2';
  if (character == kFinalSigma) return "sigma";
  for (const auto& greek : kGreek)
    if (character == greek.capital || character == greek.capital + kSmall) return greek.name;
  return {};
}

const std::u32string& sign_characters() {
  static const std::u32string characters = [] {
    std::u32string all;
    const auto add = [&](const auto& signs) {
      for (const Sign& sign : signs)
        for (const char32_t c : to_code_points(sign.written))
          if (c >= 0x80) all += c;
    };
    add(kRelations);
    add(kOthers);
    return all;
  }();
  return characters;
}

bool is_silent(char32_t c) {
  constexpr std::u32string_view kSilent =
      U"\"'`()[]{}*_-.,;:?!\u00A1\u00BF\u00AB\u00BB\u2039\u203A\u201A\u201E\u201B\u201C\u201D\u201F\u2018\u2019\u2022"
      U"\u2023\u25E6\u25AA\u2027\u00B7\u22C5\u2026\u3001\u3002\u300C\u300D\u300E\u300F\u3008\u3009\u300A\u300B\u3010"
      U"\u3011\u27E8\u27E9\u2010\u2011\u2012\u2013\u2014\u2015\u2020\u00B4\u02C6\u02DC\u00A8\u00B8";
  return kSilent.find(c) != kSilent.npos;
}

bool is_invisible(char32_t c) {
  constexpr char32_t kFirstPrinted = 0x20, kDelete = 0x7F, kLastControl = 0x9F;
  const bool is_control =
      (c < kFirstPrinted && c != U'\n' && c != U'\t' && c != U'\r') || (c >= kDelete && c <= kLastControl);
  return is_control || c == U'\u00AD' || (c >= U'\u200B' && c <= U'\u200F') || (c >= U'\u202A' && c <= U'\u202E') ||
         (c >= U'\u2060' && c <= U'\u2064') || c == U'\uFEFF' || (c >= U'\uFE00' && c <= U'\uFE0F');
}

}  // namespace tutti
