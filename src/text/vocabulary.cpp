#include "text/vocabulary.h"

#include <algorithm>

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

}  // namespace

Result<std::shared_ptr<const Tokenizer::Vocabulary>> Tokenizer::Vocabulary::build(VocabularyFile file,
                                                                                  SpecialTokens special) {
  const auto names = special_token_names(special);
  const auto most = std::ranges::max_element(names)->first;
  file.tokens.resize(std::max(file.tokens.size(), static_cast<std::size_t>(most) + 1));
  // Hugging Face lists <|endoftext|> among the text tokens as well; text never becomes a special token.
  for (const auto& [id, name] : names) file.tokens[static_cast<std::size_t>(id)].clear();
  for (const auto& token : file.added)
    if (static_cast<std::size_t>(token.id) < file.tokens.size())
      file.tokens[static_cast<std::size_t>(token.id)].clear();

  TokenTable ids(file.tokens.size());
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (file.tokens[id].empty()) continue;
    const std::int32_t other = ids.insert(file.tokens[id], static_cast<std::int32_t>(id));
    if (other != TokenTable::kNone)
      return fail(Fault::corrupt,
                  "tokens " + std::to_string(other) + " and " + std::to_string(id) + " are the same bytes");
  }
  auto pairs = pairs_of(file, ids);
  if (!pairs) return tl::unexpected(pairs.error());

  auto built = std::make_shared<Vocabulary>();
  built->pairs = std::move(*pairs);
  built->tokens = std::move(file.tokens);  // keeps every string where it is: `ids` stays good
  built->ids = std::move(ids);
  built->special = std::move(special);
  for (std::size_t byte = 0; byte < built->byte_ids.size(); ++byte) {
    const char one = static_cast<char>(byte);
    built->byte_ids[byte] = built->ids.find(std::string_view(&one, 1));
    if (built->byte_ids[byte] == TokenTable::kNone)
      return fail(Fault::corrupt, "the vocabulary has no token for the byte " + std::to_string(byte));
  }
  for (const auto& [id, name] : names) built->tokens[static_cast<std::size_t>(id)] = name;
  return built;
}

}  // namespace tutti
