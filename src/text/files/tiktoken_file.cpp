#include <charconv>
#include <utility>

#include "base/base64.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

tl::unexpected<Error> bad_line(std::size_t number, std::string_view line) {
  return fail(Fault::corrupt, "line " + std::to_string(number) + ": expected 'base64 rank', found '" +
                                  std::string(line.substr(0, 60)) + "'");
}

}  // namespace

Result<VocabularyFile> parse_tiktoken(std::string_view content) {
  VocabularyFile file;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;

    const std::size_t space = line.find(' ');
    auto bytes = base64_decoded(line.substr(0, space));
    if (space == line.npos || !bytes) return bad_line(number, line);
    std::int32_t rank = -1;
    const char* last = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + space + 1, last, rank);
    if (error != std::errc() || stop != last) return bad_line(number, line);
    // Ranks are the ids, so they must count up: a gap is a missing piece of the file.
    if (rank != static_cast<std::int32_t>(file.tokens.size()) || rank >= kMostTokens)
      return fail(Fault::corrupt, "line " + std::to_string(number) + ": expected rank " +
                                      std::to_string(file.tokens.size()) + ", found " + std::to_string(rank));
    file.tokens.push_back(std::move(*bytes));
  }
  if (file.tokens.empty()) return fail(Fault::corrupt, "expected tokens, found an empty file");
  return file;
}

// Packed by tools/pack_tokens.py: of each token its length, a byte, and its bytes.
extern const std::string_view kEnglishTokens;
extern const std::string_view kMultilingualTokens;

VocabularyFile openai_vocabulary(std::int32_t n_vocab) {
  const bool english = n_vocab <= kEnglishVocabulary;
  VocabularyFile file;
  file.tokens.reserve(static_cast<std::size_t>(english ? kEnglishTextTokens : kMultilingualTextTokens));
  std::string_view rest = english ? kEnglishTokens : kMultilingualTokens;
  while (!rest.empty()) {
    const std::size_t size = static_cast<unsigned char>(rest.front());
    file.tokens.emplace_back(rest.substr(1, size));
    rest.remove_prefix(1 + size);
  }
  return file;
}

}  // namespace tutti
