#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "text/speech/english_words.h"
#include "text/speech/sentences.h"

// Any text is read aloud: its pieces lose no byte that is a word's, and all that is read is a word in lower case, IPA
// or one mark.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 4096, kLongest = 240;
  const std::string text(reinterpret_cast<const char*>(data), std::min(size, kMost));
  const auto knows = [](std::string_view word) {
    return word.size() % 2 == 0 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-'") == word.npos;
  };
  for (const auto& piece : tutti::split_sentences(text, kLongest).pieces) {
    if (piece.empty() || text.find(piece) == std::string::npos) std::abort();
    std::set<std::string> skipped;
    for (const auto& read : tutti::read_english(piece, knows, skipped)) {
      if (read.text.empty()) std::abort();
      if (read.kind == tutti::ReadAloud::Kind::ipa) continue;
      const bool is_plain =
          std::ranges::none_of(read.text, [](unsigned char c) { return c >= 0x80 || std::isupper(c) != 0; });
      if (!is_plain) std::abort();
    }
    (void)tutti::read_characters(piece, skipped);
  }
  return 0;
}
