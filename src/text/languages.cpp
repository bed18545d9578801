#include "text/languages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace tutti {
namespace {

constexpr std::array kLanguages = {
    Language{"en", "english"},     Language{"zh", "chinese"},    Language{"de", "german"},
    Language{"es", "spanish"},     Language{"ru", "russian"},    Language{"ko", "korean"},
    Language{"fr", "french"},      Language{"ja", "japanese"},   Language{"pt", "portuguese"},
    Language{"tr", "turkish"},     Language{"pl", "polish"},     Language{"ca", "catalan"},
    Language{"nl", "dutch"},       Language{"ar", "arabic"},     Language{"sv", "swedish"},
    Language{"it", "italian"},     Language{"id", "indonesian"}, Language{"hi", "hindi"},
    Language{"fi", "finnish"},     Language{"vi", "vietnamese"}, Language{"he", "hebrew"},
    Language{"uk", "ukrainian"},   Language{"el", "greek"},      Language{"ms", "malay"},
    Language{"cs", "czech"},       Language{"ro", "romanian"},   Language{"da", "danish"},
    Language{"hu", "hungarian"},   Language{"ta", "tamil"},      Language{"no", "norwegian"},
    Language{"th", "thai"},        Language{"ur", "urdu"},       Language{"hr", "croatian"},
    Language{"bg", "bulgarian"},   Language{"lt", "lithuanian"}, Language{"la", "latin"},
    Language{"mi", "maori"},       Language{"ml", "malayalam"},  Language{"cy", "welsh"},
    Language{"sk", "slovak"},      Language{"te", "telugu"},     Language{"fa", "persian"},
    Language{"lv", "latvian"},     Language{"bn", "bengali"},    Language{"sr", "serbian"},
    Language{"az", "azerbaijani"}, Language{"sl", "slovenian"},  Language{"kn", "kannada"},
    Language{"et", "estonian"},    Language{"mk", "macedonian"}, Language{"br", "breton"},
    Language{"eu", "basque"},      Language{"is", "icelandic"},  Language{"hy", "armenian"},
    Language{"ne", "nepali"},      Language{"mn", "mongolian"},  Language{"bs", "bosnian"},
    Language{"kk", "kazakh"},      Language{"sq", "albanian"},   Language{"sw", "swahili"},
    Language{"gl", "galician"},    Language{"mr", "marathi"},    Language{"pa", "punjabi"},
    Language{"si", "sinhala"},     Language{"km", "khmer"},      Language{"sn", "shona"},
    Language{"yo", "yoruba"},      Language{"so", "somali"},     Language{"af", "afrikaans"},
    Language{"oc", "occitan"},     Language{"ka", "georgian"},   Language{"be", "belarusian"},
    Language{"tg", "tajik"},       Language{"sd", "sindhi"},     Language{"gu", "gujarati"},
    Language{"am", "amharic"},     Language{"yi", "yiddish"},    Language{"lo", "lao"},
    Language{"uz", "uzbek"},       Language{"fo", "faroese"},    Language{"ht", "haitian creole"},
    Language{"ps", "pashto"},      Language{"tk", "turkmen"},    Language{"nn", "nynorsk"},
    Language{"mt", "maltese"},     Language{"sa", "sanskrit"},   Language{"lb", "luxembourgish"},
    Language{"my", "myanmar"},     Language{"bo", "tibetan"},    Language{"tl", "tagalog"},
    Language{"mg", "malagasy"},    Language{"as", "assamese"},   Language{"tt", "tatar"},
    Language{"haw", "hawaiian"},   Language{"ln", "lingala"},    Language{"ha", "hausa"},
    Language{"ba", "bashkir"},     Language{"jw", "javanese"},   Language{"su", "sundanese"},
    Language{"yue", "cantonese"},
};

/// Other names people use.
constexpr std::array kAliases = {
    Language{"my", "burmese"},   Language{"ca", "valencian"},     Language{"nl", "flemish"},
    Language{"ht", "haitian"},   Language{"lb", "letzeburgesch"}, Language{"ps", "pushto"},
    Language{"pa", "panjabi"},   Language{"ro", "moldavian"},     Language{"ro", "moldovan"},
    Language{"si", "sinhalese"}, Language{"es", "castilian"},     Language{"zh", "mandarin"},
};

}  // namespace

std::span<const Language> whisper_languages() {
  return kLanguages;
}

std::optional<std::string_view> to_language_code(std::string_view code_or_name) {
  std::string wanted(code_or_name);
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Language& language : kLanguages)
    if (wanted == language.code || wanted == language.name) return language.code;
  for (const Language& alias : kAliases)
    if (wanted == alias.name) return alias.code;
  return std::nullopt;
}

std::optional<std::string_view> language_name(std::string_view code) {
  const auto found = std::ranges::find(kLanguages, code, &Language::code);
  if (found == kLanguages.end()) return std::nullopt;
  return found->name;
}

}  // namespace tutti
