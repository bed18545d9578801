#include "text/speech/phones.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 54> kNames{
    "B",   "CH",  "D",   "DH",  "F",   "G",   "HH",  "JH",  "K",   "L",   "M",   "N",   "NG",  "P",
    "R",   "S",   "SH",  "T",   "TH",  "V",   "W",   "Y",   "Z",   "ZH",  "AA0", "AA1", "AE0", "AE1",
    "AH0", "AH1", "AO0", "AO1", "AW0", "AW1", "AY0", "AY1", "EH0", "EH1", "ER0", "ER1", "EY0", "EY1",
    "IH0", "IH1", "IY0", "IY1", "OW0", "OW1", "OY0", "OY1", "UH0", "UH1", "UW0", "UW1"};

constexpr std::size_t kAlphabet = 27;  // that a name's first two characters can be: none, A to Z
constexpr std::size_t kNone = kNames.size();

constexpr bool is_capital(char character) {
  return character >= 'A' && character <= 'Z';
}

/// The number of a name without its stress, which is one or two capitals.
constexpr std::size_t number_of(std::string_view name) {
  const std::size_t second = name.size() > 1 ? static_cast<std::size_t>(name[1] - 'A') + 1 : 0;
  return kAlphabet * static_cast<std::size_t>(name[0] - 'A') + second;
}

/// By the number of a name: the phone, of a vowel the one without stress. A dictionary looks up a million of them.
constexpr auto kByNumber = [] {
  std::array<std::uint8_t, kAlphabet * kAlphabet> all{};
  all.fill(kNone);
  for (std::size_t i = kNames.size(); i-- > 0;) all[number_of(kNames[i].substr(0, 2))] = static_cast<std::uint8_t>(i);
  return all;
}();

struct IpaSound {
  std::string_view ipa;
  std::string_view arpabet;  // one or two names, without stress
};

/// Longer ones before their beginnings.
constexpr std::array<IpaSound, 71> kIpa{{
    {"tʃ", "CH"}, {"t͡ʃ", "CH"}, {"ʧ", "CH"},  {"dʒ", "JH"},   {"d͡ʒ", "JH"},   {"ʤ", "JH"},    {"aʊ", "AW"},
    {"aw", "AW"}, {"aɪ", "AY"}, {"aj", "AY"}, {"eɪ", "EY"},   {"ej", "EY"},   {"oʊ", "OW"},   {"əʊ", "OW"},
    {"ow", "OW"}, {"ɔɪ", "OY"}, {"ɔj", "OY"}, {"ɪə", "IH R"}, {"ʊə", "UH R"}, {"eə", "EH R"}, {"ɚ", "ER"},
    {"ɝ", "ER"},  {"ɜ", "ER"},  {"ɑ", "AA"},  {"ɒ", "AA"},    {"a", "AA"},    {"æ", "AE"},    {"ʌ", "AH"},
    {"ə", "AH"},  {"ɐ", "AH"},  {"ɔ", "AO"},  {"ɛ", "EH"},    {"e", "EY"},    {"ɪ", "IH"},    {"ɨ", "IH"},
    {"ᵻ", "IH"},  {"i", "IY"},  {"o", "OW"},  {"ʊ", "UH"},    {"u", "UW"},    {"ʉ", "UW"},    {"b", "B"},
    {"d", "D"},   {"ð", "DH"},  {"f", "F"},   {"ɡ", "G"},     {"g", "G"},     {"h", "HH"},    {"k", "K"},
    {"l", "L"},   {"ɫ", "L"},   {"m", "M"},   {"n", "N"},     {"ŋ", "NG"},    {"p", "P"},     {"ɹ", "R"},
    {"r", "R"},   {"ɾ", "T"},   {"s", "S"},   {"ʃ", "SH"},    {"t", "T"},     {"ʔ", "T"},     {"θ", "TH"},
    {"v", "V"},   {"w", "W"},   {"ʍ", "W"},   {"j", "Y"},     {"z", "Z"},     {"ʒ", "ZH"},    {"x", "K"},
    {"ç", "HH"},
}};

constexpr std::array<std::string_view, 9> kPassedOver{"ː", "ˑ", "͡", "̩", "̯", "ʰ", ".", " ", "‿"};

/// Takes `prefix` off the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::span<const std::string_view> phone_names() {
  return kNames;
}

std::optional<Phone> phone_of(std::string_view name) {
  constexpr std::size_t kLongest = 3;
  if (name.empty() || name.size() > kLongest || !std::ranges::all_of(name.substr(0, 2), is_capital))
    return std::nullopt;
  const std::size_t phone = kByNumber[number_of(name)];
  if (phone == kNone) return std::nullopt;
  if (name.size() < kLongest) return static_cast<Phone>(phone);
  const char stress = name.back();
  if (kNames[phone].size() < kLongest || stress < '0' || stress > '2') return std::nullopt;
  return static_cast<Phone>(phone + (stress == '0' ? 0 : 1));  // secondary stress: as primary
}

Result<std::vector<Phone>> phones_of_ipa(std::string_view ipa) {
  std::vector<Phone> phones;
  std::string_view rest = ipa;
  bool is_stressed = false;
  while (!rest.empty()) {
    if (take(rest, "ˈ") || take(rest, "ˌ") || take(rest, "'")) {
      is_stressed = true;
      continue;
    }
    if (std::ranges::any_of(kPassedOver, [&](std::string_view mark) { return take(rest, mark); })) continue;
    const auto sound = std::ranges::find_if(kIpa, [&](const IpaSound& one) { return take(rest, one.ipa); });
    if (sound == kIpa.end()) {
      const std::string found(rest.substr(0, code_point_at(rest, 0).size));
      return fail(Fault::usage, "[[" + std::string(ipa) + "]]: expected the IPA of English, found '" + found + "'",
                  "Write the word itself, or use only sounds that English has");
    }
    for (std::string_view names = sound->arpabet; !names.empty();) {
      const std::string name(names.substr(0, names.find(' ')));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      const bool is_vowel = phone_of(name + "1").has_value();
      phones.push_back(*phone_of(is_vowel && is_stressed ? name + "1" : name));
      is_stressed = is_stressed && !is_vowel;
    }
  }
  if (phones.empty())
    return fail(Fault::usage, "[[" + std::string(ipa) + "]]: expected the IPA of a word, found no sound in it");
  return phones;
}

}  // namespace tutti
