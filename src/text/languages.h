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

/// The name of a code, in lower case.
std::optional<std::string_view> language_name(std::string_view code);

}  // namespace tutti
