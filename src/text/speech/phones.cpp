#include "text/speech/phones.h"

#include <algorithm>
#include <array>

#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 54> kNames{
    "B",   "CH",  "D",   "DH",  "F",   "G",   "HH",  "JH",  "K",   "L",   "M",   "N",   "NG",  "P",
    "R",   "S",   "SH",  "T",   "TH",  "V",   "W",   "Y",   "Z",   "ZH",  "AA0", "AA1", "AE0", "AE1",
    "AH0", "AH1", "AO0", "AO1", "AW0", "AW1", "AY0", "AY1", "EH0", "EH1", "ER0", "ER1", "EY0", "EY1",
    "IH0", "IH1", "IY0", "IY1", "OW0", "OW1", "OY0", "OY1", "UH0", "UH1", "UW0", "UW1"};

/// A name of up to three characters as a number, the first one highest.
constexpr std::uint32_t key_of(std::string_view name) {
  std::uint32_t key = 0;
  for (std::size_t i = 0; i < name.size(); ++i)
    key |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])) << (8 * (2 - i));
  return key;
}

struct PhoneKey {
  std::uint32_t key = 0;
  Phone phone = 0;
};

/// The names in the order of their keys: a dictionary looks up a million of them.
constexpr auto kKeys = [] {
  std::array<PhoneKey, kNames.size()> keys;
  for (std::size_t i = 0; i < kNames.size(); ++i) keys[i] = {key_of(kNames[i]), static_cast<Phone>(i)};
  std::ranges::sort(keys, {}, &PhoneKey::key);
  return keys;
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
  const auto phone_at = [](std::uint32_t key) -> std::optional<Phone> {
    const auto found = std::ranges::lower_bound(kKeys, key, {}, &PhoneKey::key);
    if (found == kKeys.end() || found->key != key) return std::nullopt;
    return found->phone;
  };
  constexpr std::size_t kLongest = 3;
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  const std::uint32_t key = key_of(name);
  if (name.size() == kLongest && name.back() == '2') return phone_at(key - 1);  // secondary stress: as primary
  if (const auto phone = phone_at(key)) return phone;
  return name.size() + 1 == kLongest ? phone_at(key | std::uint32_t{'0'}) : std::nullopt;
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
