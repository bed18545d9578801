#include <array>
#include <charconv>

#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

constexpr std::array<int, 256> base64_values() {
  std::array<int, 256> values{};
  values.fill(-1);
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int>(i);
  return values;
}

/// False where `text` is not base64. A lone "=" means no bytes: the multilingual file has such a line.
bool decode_base64(std::string_view text, std::string& bytes) {
  static constexpr auto kValues = base64_values();
  while (text.ends_with('=')) text.remove_suffix(1);
  bytes.clear();
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xFFFF;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xFF));
  }
  return true;
}

tl::unexpected<Error> bad_line(std::size_t number, std::string_view line) {
  return fail(Fault::corrupt, "line " + std::to_string(number) + ": expected 'base64 rank', found '" +
                                  std::string(line.substr(0, 60)) + "'");
}

}  // namespace

Result<VocabularyFile> parse_tiktoken(std::string_view content) {
  VocabularyFile file;
  std::string bytes;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;

    const std::size_t space = line.find(' ');
    if (space == line.npos || !decode_base64(line.substr(0, space), bytes)) return bad_line(number, line);
    std::int32_t rank = -1;
    const char* last = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + space + 1, last, rank);
    if (error != std::errc() || stop != last) return bad_line(number, line);
    // Ranks are the ids, so they must count up: a gap is a missing piece of the file.
    if (rank != static_cast<std::int32_t>(file.tokens.size()) || rank >= kMostTokens)
      return fail(Fault::corrupt, "line " + std::to_string(number) + ": expected rank " +
                                      std::to_string(file.tokens.size()) + ", found " + std::to_string(rank));
    file.tokens.push_back(bytes);
  }
  if (file.tokens.empty()) return fail(Fault::corrupt, "expected tokens, found an empty file");
  return file;
}

extern const std::string_view kEnglishTiktoken;
extern const std::string_view kMultilingualTiktoken;

std::string_view openai_vocabulary(std::int32_t n_vocab) {
  return n_vocab <= kEnglishVocabulary ? kEnglishTiktoken : kMultilingualTiktoken;
}

}  // namespace tutti
