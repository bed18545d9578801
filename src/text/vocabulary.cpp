#include "text/vocabulary.h"

#include <algorithm>

#include "base/try.h"
#include "text/special_tokens.h"

namespace tutti {
namespace {

/// Whether some token of several bytes comes out of no merge.
bool lacks_merges(const std::vector<std::string>& tokens, const std::vector<bool>& made) {
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id].size() > 1 && !made[id]) return true;
  return false;
}

/// By the list of merges, if there is one and it is complete. One published multilingual tokenizer.json lost its first
/// merge (of " t"); the reference goes by rank, so that is the way out.
Result<BytePairs> pairs_of(const VocabularyFile& file, const TokenTable& ids) {
  if (!file.merges.empty()) {
    std::vector<bool> made(file.tokens.size());
    auto pairs = BytePairs::by_list(file.merges, ids, made);
    if (!pairs || !lacks_merges(file.tokens, made)) return pairs;
  }
  return BytePairs::by_rank(file.tokens, ids);
}

/// All tokens that are not of text, as they are written out: those the file adds, and the special ones under the names
/// of the reference.
std::vector<std::pair<std::size_t, std::string>> written_out(const VocabularyFile& file, const SpecialTokens& special) {
  std::vector<std::pair<std::size_t, std::string>> written;
  for (const auto& [id, content] : file.added) written.emplace_back(id, content);
  for (auto& [id, name] : special_token_names(special)) written.emplace_back(id, std::move(name));
  return written;
}

Result<TokenTable> ids_of(const std::vector<std::string>& tokens) {
  TokenTable ids(tokens);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    const std::int32_t other = ids.insert(static_cast<std::int32_t>(id));
    if (other != TokenTable::kNone)
      return fail(Fault::corrupt,
                  "tokens " + std::to_string(other) + " and " + std::to_string(id) + " are the same bytes");
  }
  return ids;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer::Vocabulary>> Tokenizer::Vocabulary::build(VocabularyFile file,
                                                                                  SpecialTokens special) {
  const auto written = written_out(file, special);
  const std::size_t most = std::ranges::max_element(written)->first;
  file.tokens.resize(std::max(file.tokens.size(), most + 1));
  // Hugging Face lists <|endoftext|> among the text tokens as well; text never becomes a special token.
  for (const auto& [id, name] : written) file.tokens[id].clear();
  auto ids = TRY(ids_of(file.tokens));
  auto pairs = TRY(pairs_of(file, ids));

  auto built = std::make_shared<Vocabulary>();
  built->pairs = std::move(pairs);
  built->tokens = std::move(file.tokens);  // keeps every string where it is: `ids` stays good
  built->ids = std::move(ids);
  built->special = std::move(special);
  for (std::size_t byte = 0; byte < built->byte_ids.size(); ++byte) {
    const char one = static_cast<char>(byte);
    built->byte_ids[byte] = built->ids.find(std::string_view(&one, 1));
    if (built->byte_ids[byte] == TokenTable::kNone)
      return fail(Fault::corrupt, "the vocabulary has no token for the byte " + std::to_string(byte));
  }
  for (const auto& [id, name] : written) built->tokens[id] = name;
  return built;
}

}  // namespace tutti
