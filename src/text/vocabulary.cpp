#include "text/vocabulary.h"

#include <algorithm>

namespace tutti {
namespace {

/// Whether some token of several bytes comes out of no merge. One published multilingual tokenizer.json lost its first
/// merge (of " t") that way.
bool lacks_merges(const VocabularyFile& file, const TokenIds& ids) {
  std::vector<bool> made(file.tokens.size());
  for (const auto& [left, right] : file.merges)
    if (const auto found = ids.find(left + right); found != ids.end())
      made[static_cast<std::size_t>(found->second)] = true;
  return std::ranges::any_of(
      ids, [&](const auto& token) { return token.first.size() > 1 && !made[static_cast<std::size_t>(token.second)]; });
}

/// The reference knows no list of merges and goes by rank, so an incomplete list is left for that.
Result<BytePairs> pairs_of(const VocabularyFile& file, const TokenIds& ids) {
  if (file.merges.empty() || lacks_merges(file, ids)) return BytePairs::by_rank(ids);
  return BytePairs::by_list(file.merges, ids);
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

  TokenIds ids;
  ids.reserve(file.tokens.size());
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (file.tokens[id].empty()) continue;
    const auto [other, fresh] = ids.emplace(file.tokens[id], static_cast<std::int32_t>(id));
    if (!fresh)
      return fail(Fault::corrupt,
                  "tokens " + std::to_string(other->second) + " and " + std::to_string(id) + " are the same bytes");
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
    const auto found = built->ids.find(std::string_view(&one, 1));
    if (found == built->ids.end())
      return fail(Fault::corrupt, "the vocabulary has no token for the byte " + std::to_string(byte));
    built->byte_ids[byte] = found->second;
  }
  for (const auto& [id, name] : names) built->tokens[static_cast<std::size_t>(id)] = name;
  return built;
}

}  // namespace tutti
