#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tutti {

struct WhisperLanguage {
  std::string_view code;  // "en": what the token <|en|> is named after
  std::string_view name;  // "english", in lower case
};

/// The 100 languages of Whisper in the order of their tokens. Models before large-v3 know the first 99 (no "yue").
std::span<const WhisperLanguage> whisper_languages();

/// The code of a language given by code, name or a common other name, in any case: "de", "German", "Castilian" -> "es".
std::optional<std::string_view> to_language_code(std::string_view code_or_name);

/// The code of a language that a tag of BCP 47 or a locale names, in any case: "zh-CN", "en_US.UTF-8", "pt-BR". Codes
/// of ISO 639 that Whisper calls otherwise ("eng", "nb", "iw", "jv") are understood, alone or in a tag.
std::optional<std::string_view> language_of_tag(std::string_view tag);

/// The name of a code, in lower case.
std::optional<std::string_view> language_name(std::string_view code);

}  // namespace tutti
