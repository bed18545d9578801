
#include "base/json.h"
#include "base/try.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

/// The list's next token, which has the id `id`.
Result<void> add(VocabularyFile& file, std::int32_t id, std::string token) {
  if (id >= kMostTokens) return fail(Fault::corrupt, "more than " + std::to_string(kMostTokens) + " tokens");
  if (!file.added.empty() || token == kEndOfText) {
    file.added.push_back({id, std::move(token)});
    return {};
  }
  file.tokens.emplace_back();
  if (bytes_of_byte_level(token, file.tokens.back())) return {};
  return fail(Fault::corrupt, "token " + std::to_string(id) + " ('" + token + "') is not byte-level");
}

Result<VocabularyFile> checked(VocabularyFile file) {
  if (!file.tokens.empty() && !file.added.empty()) return file;
  return fail(Fault::corrupt, "expected tokens of text and " + std::string(kEndOfText) + ", found " +
                                  std::to_string(file.tokens.size()) + " and " + std::to_string(file.added.size()) +
                                  " from there on");
}

}  // namespace

Result<VocabularyFile> parse_vocabulary_json(std::string_view content) {
  const auto list = nlohmann::json::parse(content, nullptr, false);
  if (!list.is_array()) return fail(Fault::corrupt, "expected a JSON array of tokens");
  VocabularyFile file;
  std::int32_t id = 0;
  for (const auto& token : list) {
    if (!token.is_string()) return fail(Fault::corrupt, "token " + std::to_string(id) + " is no text");
    TRY(add(file, id++, token.get<std::string>()));
  }
  return checked(std::move(file));
}

Result<VocabularyFile> parse_vocabulary_txt(std::string_view content) {
  VocabularyFile file;
  for (std::int32_t id = 0; !content.empty(); ++id) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    TRY(add(file, id, std::string(content.substr(0, end))));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return checked(std::move(file));
}

}  // namespace tutti
