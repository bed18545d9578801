#include "text/speech/word_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/strings.h"

namespace tutti {
namespace {

template <class List>
bool has(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_small(char c) {
  return is_ascii_alphabetic(c) && !is_ascii_upper(c);
}

constexpr std::string_view kElements =
    " H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo "
    "Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl "
    "Pb "
    "Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am ";

bool is_element(std::string_view symbol) {
  return kElements.find(" " + std::string(symbol) + " ") != kElements.npos;
}

}  // namespace

std::vector<std::string_view> camel_parts(std::string_view word) {
  constexpr auto kBeginningsOfNames =
      std::to_array<std::string_view>({"Mc", "Mac", "De", "Di", "La", "Le", "Fitz", "O"});
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 1; at < word.size(); ++at) {
    const bool is_begin = is_small(word[at - 1]) && is_ascii_upper(word[at]);
    const bool is_last_of_capitals =
        at + 1 < word.size() && is_ascii_upper(word[at - 1]) && is_ascii_upper(word[at]) && is_small(word[at + 1]);
    if (!is_begin && !is_last_of_capitals) continue;
    parts.push_back(word.substr(begin, at - begin));
    begin = at;
  }
  parts.push_back(word.substr(begin));
  const bool is_plural = parts.size() == 1 || (parts.size() == 2 && ascii_lower(parts[1]) == "s");
  if (is_plural || has(kBeginningsOfNames, parts[0])) return {word};
  return parts;
}

bool is_formula(std::string_view word) {
  std::size_t elements = 0, long_ones = 0;
  for (std::size_t at = 0; at < word.size(); ++elements) {
    const std::size_t size = at + 1 < word.size() && is_small(word[at + 1]) ? 2 : 1;
    if (!is_ascii_upper(word[at]) || !is_element(word.substr(at, size))) return false;
    long_ones += size - 1;
    at += size;
  }
  return elements > 1 && long_ones > 0;
}

bool has_no_vowel(std::string_view word) {
  constexpr std::size_t kLongest = 5;
  constexpr auto kSounds = std::to_array<std::string_view>(
      {"hmm", "hm",  "mm", "mmm", "sh", "shh", "shhh", "psst", "pst", "pfft", "brr", "brrr", "grr", "grrr", "zzz",
       "tsk", "nth", "mr", "mrs", "dr", "st",  "th",   "ll",   "nt",  "n",    "cwm", "hmmm", "tch", "ps"});
  return word.size() > 1 && word.size() <= kLongest && std::ranges::all_of(word, is_small) &&
         word.find_first_of("aeiouy") == word.npos && !has(kSounds, word);
}

bool is_small_acronym(std::string_view word) {
  constexpr auto kAcronyms = std::to_array<std::string_view>({"gpu", "aws", "diy", "uri", "db", "os", "ai"});
  return has(kAcronyms, word);
}

std::optional<std::string_view> spoken_acronym(std::string_view word) {
  using Spoken = std::pair<std::string_view, std::string_view>;
  constexpr auto kSpoken = std::to_array<Spoken>(
      {{"DOCX", "doc x"},  {"JSON", "jason"},     {"JPEG", "jay peg"},  {"JPG", "jay peg"},    {"MPEG", "em peg"},
       {"GIF", "gif"},     {"YAML", "yammel"},    {"NASDAQ", "nasdaq"}, {"BIOS", "bye oss"},   {"CAPTCHA", "captcha"},
       {"COVID", "covid"}, {"DARPA", "darpa"},    {"FEMA", "feema"},    {"FOMO", "fomo"},      {"YOLO", "yolo"},
       {"ASCII", "askey"}, {"UNICEF", "unicef"},  {"OSHA", "osha"},     {"SCUBA", "scuba"},    {"SONAR", "sonar"},
       {"RADAR", "radar"}, {"ASEAN", "ahzeeahn"}, {"NAFTA", "nafta"},   {"UEFA", "you ay fa"}, {"LASIK", "lay sick"},
       {"NIMBY", "nimby"}, {"GAAP", "gap"}});
  const auto found = std::ranges::find(kSpoken, word, &Spoken::first);
  if (found == kSpoken.end()) return std::nullopt;
  return found->second;
}

bool is_spelled_ending(std::string_view ending) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {"exe", "avi", "py", "js", "ts",  "io",  "ai",  "uk",  "us",  "de",  "eu",  "fr", "it", "es",
       "at",  "be",  "in", "jp", "au",  "ca",  "ie",  "fi",  "ru",  "se",  "no",  "dk", "nl", "pl",
       "pt",  "cz",  "br", "mx", "kr",  "cn",  "nz",  "za",  "iso", "odt", "pdf", "ps", "so", "sh",
       "md",  "yml", "db", "go", "hpp", "ico", "sql", "ogg", "aac", "tv",  "fm",  "gg", "ly"});
  return has(kEndings, ending);
}

}  // namespace tutti
