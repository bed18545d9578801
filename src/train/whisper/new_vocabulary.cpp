#include "train/whisper/new_vocabulary.h"

#include "base/json.h"
#include "text/files/vocabulary_files.h"
#include "text/special_tokens.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int32_t kBytes = 256;

/// As a Hugging Face file, the one form that holds everything.
std::string byte_vocabulary() {
  Json vocab = Json::object(), added = Json::array();
  for (std::int32_t byte = 0; byte < kBytes; ++byte)
    vocab[byte_level_of_bytes(std::string(1, static_cast<char>(byte)))] = byte;
  const auto special = standard_special_tokens(kBytes, 0);
  for (const auto& [id, name] : special_token_names(special)) added.push_back({{"id", id}, {"content", name}});
  added.push_back({{"id", special.timestamp_begin}, {"content", "<|0.00|>"}});
  return Json{{"added_tokens", added}, {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}}}
      .dump();
}

Result<NewVocabulary> sized(Result<Tokenizer> tokenizer) {
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error());
  const auto n_vocab = tokenizer->special().timestamp_begin + kTimestampTokens;
  return NewVocabulary{std::move(*tokenizer), n_vocab};
}

}  // namespace

Result<NewVocabulary> new_vocabulary(const std::string& name) {
  if (name == "bytes") return sized(Tokenizer::parse(byte_vocabulary()));
  if (name == "english") return sized(Tokenizer::built_in(kEnglishVocabulary));
  if (name == "multilingual") return sized(Tokenizer::built_in(kMultilingualVocabulary));
  return sized(Tokenizer::load(name));
}

}  // namespace tutti
