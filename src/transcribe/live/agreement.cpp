#include <algorithm>
#include <array>
#include <string>

#include "base/strings.h"
#include "transcribe/live/captions.h"

namespace tutti {
namespace {

bool is_sign(char c) {
  constexpr std::string_view kSigns = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  return kSigns.find(c) != std::string_view::npos;
}

/// What must be the same in both readings.
std::string key_of(const SpelledWord& word) {
  std::string key = ascii_lower(word.text);
  std::erase_if(key, is_sign);
  return key;
}

}  // namespace

bool is_punctuation(std::string_view word) {
  return std::ranges::all_of(word, is_sign);
}

bool ends_sentence(std::string_view text) {
  return std::ranges::any_of(std::array{".", "?", "!", "。"}, [text](const char* end) { return text.ends_with(end); });
}

std::size_t agreed_words(std::span<const SpelledWord> earlier, std::span<const SpelledWord> latest) {
  std::size_t agreed = 0, before = 0;
  for (std::size_t at = 0; at < latest.size(); ++at) {
    const std::string key = key_of(latest[at]);
    if (key.empty()) {
      if (agreed == at && at + 1 < latest.size()) agreed = at + 1;
      continue;
    }
    while (before < earlier.size() && key_of(earlier[before]).empty()) ++before;
    if (before == earlier.size() || key_of(earlier[before]) != key) break;
    ++before;
    agreed = at + 1;
  }
  // An opening sign belongs to the word behind it, which is not agreed on.
  while (agreed > 0 && is_punctuation(latest[agreed - 1].text) && latest[agreed - 1].text.starts_with(' ')) --agreed;
  return agreed;
}

}  // namespace tutti
