#include "text/languages.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::array kLanguages = {
    WhisperLanguage{"en", "english"},     WhisperLanguage{"zh", "chinese"},    WhisperLanguage{"de", "german"},
    WhisperLanguage{"es", "spanish"},     WhisperLanguage{"ru", "russian"},    WhisperLanguage{"ko", "korean"},
    WhisperLanguage{"fr", "french"},      WhisperLanguage{"ja", "japanese"},   WhisperLanguage{"pt", "portuguese"},
    WhisperLanguage{"tr", "turkish"},     WhisperLanguage{"pl", "polish"},     WhisperLanguage{"ca", "catalan"},
    WhisperLanguage{"nl", "dutch"},       WhisperLanguage{"ar", "arabic"},     WhisperLanguage{"sv", "swedish"},
    WhisperLanguage{"it", "italian"},     WhisperLanguage{"id", "indonesian"}, WhisperLanguage{"hi", "hindi"},
    WhisperLanguage{"fi", "finnish"},     WhisperLanguage{"vi", "vietnamese"}, WhisperLanguage{"he", "hebrew"},
    WhisperLanguage{"uk", "ukrainian"},   WhisperLanguage{"el", "greek"},      WhisperLanguage{"ms", "malay"},
    WhisperLanguage{"cs", "czech"},       WhisperLanguage{"ro", "romanian"},   WhisperLanguage{"da", "danish"},
    WhisperLanguage{"hu", "hungarian"},   WhisperLanguage{"ta", "tamil"},      WhisperLanguage{"no", "norwegian"},
    WhisperLanguage{"th", "thai"},        WhisperLanguage{"ur", "urdu"},       WhisperLanguage{"hr", "croatian"},
    WhisperLanguage{"bg", "bulgarian"},   WhisperLanguage{"lt", "lithuanian"}, WhisperLanguage{"la", "latin"},
    WhisperLanguage{"mi", "maori"},       WhisperLanguage{"ml", "malayalam"},  WhisperLanguage{"cy", "welsh"},
    WhisperLanguage{"sk", "slovak"},      WhisperLanguage{"te", "telugu"},     WhisperLanguage{"fa", "persian"},
    WhisperLanguage{"lv", "latvian"},     WhisperLanguage{"bn", "bengali"},    WhisperLanguage{"sr", "serbian"},
    WhisperLanguage{"az", "azerbaijani"}, WhisperLanguage{"sl", "slovenian"},  WhisperLanguage{"kn", "kannada"},
    WhisperLanguage{"et", "estonian"},    WhisperLanguage{"mk", "macedonian"}, WhisperLanguage{"br", "breton"},
    WhisperLanguage{"eu", "basque"},      WhisperLanguage{"is", "icelandic"},  WhisperLanguage{"hy", "armenian"},
    WhisperLanguage{"ne", "nepali"},      WhisperLanguage{"mn", "mongolian"},  WhisperLanguage{"bs", "bosnian"},
    WhisperLanguage{"kk", "kazakh"},      WhisperLanguage{"sq", "albanian"},   WhisperLanguage{"sw", "swahili"},
    WhisperLanguage{"gl", "galician"},    WhisperLanguage{"mr", "marathi"},    WhisperLanguage{"pa", "punjabi"},
    WhisperLanguage{"si", "sinhala"},     WhisperLanguage{"km", "khmer"},      WhisperLanguage{"sn", "shona"},
    WhisperLanguage{"yo", "yoruba"},      WhisperLanguage{"so", "somali"},     WhisperLanguage{"af", "afrikaans"},
    WhisperLanguage{"oc", "occitan"},     WhisperLanguage{"ka", "georgian"},   WhisperLanguage{"be", "belarusian"},
    WhisperLanguage{"tg", "tajik"},       WhisperLanguage{"sd", "sindhi"},     WhisperLanguage{"gu", "gujarati"},
    WhisperLanguage{"am", "amharic"},     WhisperLanguage{"yi", "yiddish"},    WhisperLanguage{"lo", "lao"},
    WhisperLanguage{"uz", "uzbek"},       WhisperLanguage{"fo", "faroese"},    WhisperLanguage{"ht", "haitian creole"},
    WhisperLanguage{"ps", "pashto"},      WhisperLanguage{"tk", "turkmen"},    WhisperLanguage{"nn", "nynorsk"},
    WhisperLanguage{"mt", "maltese"},     WhisperLanguage{"sa", "sanskrit"},   WhisperLanguage{"lb", "luxembourgish"},
    WhisperLanguage{"my", "myanmar"},     WhisperLanguage{"bo", "tibetan"},    WhisperLanguage{"tl", "tagalog"},
    WhisperLanguage{"mg", "malagasy"},    WhisperLanguage{"as", "assamese"},   WhisperLanguage{"tt", "tatar"},
    WhisperLanguage{"haw", "hawaiian"},   WhisperLanguage{"ln", "lingala"},    WhisperLanguage{"ha", "hausa"},
    WhisperLanguage{"ba", "bashkir"},     WhisperLanguage{"jw", "javanese"},   WhisperLanguage{"su", "sundanese"},
    WhisperLanguage{"yue", "cantonese"},
};

/// Other names people use.
constexpr std::array kAliases = {
    WhisperLanguage{"my", "burmese"},   WhisperLanguage{"ca", "valencian"},     WhisperLanguage{"nl", "flemish"},
    WhisperLanguage{"ht", "haitian"},   WhisperLanguage{"lb", "letzeburgesch"}, WhisperLanguage{"ps", "pushto"},
    WhisperLanguage{"pa", "panjabi"},   WhisperLanguage{"ro", "moldavian"},     WhisperLanguage{"ro", "moldovan"},
    WhisperLanguage{"si", "sinhalese"}, WhisperLanguage{"es", "castilian"},     WhisperLanguage{"zh", "mandarin"},
};

struct OtherCode {
  std::string_view code;  // of ISO 639
  std::string_view whisper;
};

/// Older codes, codes of three characters, and a few languages that Whisper has under the name of another.
constexpr std::array kOtherCodes = {
    OtherCode{"iw", "he"},  OtherCode{"in", "id"},  OtherCode{"ji", "yi"},  OtherCode{"jv", "jw"},
    OtherCode{"nb", "no"},  OtherCode{"mo", "ro"},  OtherCode{"fil", "tl"}, OtherCode{"cmn", "zh"},
    OtherCode{"eng", "en"}, OtherCode{"deu", "de"}, OtherCode{"ger", "de"}, OtherCode{"fra", "fr"},
    OtherCode{"fre", "fr"}, OtherCode{"spa", "es"}, OtherCode{"ita", "it"}, OtherCode{"por", "pt"},
    OtherCode{"nld", "nl"}, OtherCode{"dut", "nl"}, OtherCode{"rus", "ru"}, OtherCode{"ukr", "uk"},
    OtherCode{"pol", "pl"}, OtherCode{"ces", "cs"}, OtherCode{"cze", "cs"}, OtherCode{"zho", "zh"},
    OtherCode{"chi", "zh"}, OtherCode{"jpn", "ja"}, OtherCode{"kor", "ko"}, OtherCode{"ara", "ar"},
    OtherCode{"tur", "tr"}, OtherCode{"swe", "sv"}, OtherCode{"dan", "da"}, OtherCode{"nor", "no"},
    OtherCode{"fin", "fi"}, OtherCode{"hun", "hu"}, OtherCode{"ell", "el"}, OtherCode{"gre", "el"},
    OtherCode{"heb", "he"}, OtherCode{"hin", "hi"}, OtherCode{"vie", "vi"}, OtherCode{"ind", "id"},
    OtherCode{"ron", "ro"}, OtherCode{"rum", "ro"}, OtherCode{"cat", "ca"}, OtherCode{"tha", "th"},
};

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/// The rest of a tag behind its language: "-Hans-CN", "_US". Each part has one to eight alphabetic characters and
/// digits.
bool are_subtags(std::string_view rest) {
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_letter_or_digit) - rest.begin());
    if (size < 1 || size > 8 || (size < rest.size() && rest[size] != '-' && rest[size] != '_')) return false;
    rest.remove_prefix(size);
  }
  return true;
}

}  // namespace

std::span<const WhisperLanguage> whisper_languages() {
  return kLanguages;
}

std::optional<std::string_view> to_language_code(std::string_view code_or_name) {
  const std::string wanted = ascii_lower(code_or_name);
  for (const WhisperLanguage& language : kLanguages)
    if (wanted == language.code || wanted == language.name) return language.code;
  for (const WhisperLanguage& alias : kAliases)
    if (wanted == alias.name) return alias.code;
  return std::nullopt;
}

std::optional<std::string_view> language_of_tag(std::string_view tag) {
  const std::string small = ascii_lower(tag.substr(0, tag.find_first_of(".@")));  // a locale's encoding, its variant
  const std::string_view text = small;
  const std::string_view code = text.substr(0, text.find_first_of("-_"));
  if (!are_subtags(text.substr(code.size()))) return std::nullopt;
  if (const auto known = std::ranges::find(kLanguages, code, &WhisperLanguage::code); known != kLanguages.end())
    return known->code;
  const auto other = std::ranges::find(kOtherCodes, code, &OtherCode::code);
  return other == kOtherCodes.end() ? std::nullopt : std::optional(other->whisper);
}

std::optional<std::string_view> language_name(std::string_view code) {
  const auto found = std::ranges::find(kLanguages, code, &WhisperLanguage::code);
  if (found == kLanguages.end()) return std::nullopt;
  return found->name;
}

}  // namespace tutti
