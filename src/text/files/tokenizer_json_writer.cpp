
#include "base/json.h"
#include "text/files/vocabulary_files.h"
#include "text/special_tokens.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json added_token(std::int32_t id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", !special}, {"special", special}};
}

/// What transformers puts around a text: <|startoftranscript|> <|notimestamps|> text <|endoftext|>.
Json template_of(const SpecialTokens& special) {
  const auto token = [](const char* name) { return Json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; };
  const auto text = [](const char* name) { return Json{{"Sequence", {{"id", name}, {"type_id", 0}}}}; };
  const auto begin = Json::array({token("<|startoftranscript|>"), token("<|notimestamps|>"), text("A")});
  auto single = begin;
  single.push_back(token("<|endoftext|>"));
  auto pair = begin;
  pair.push_back(text("B"));
  pair.push_back(token("<|endoftext|>"));
  Json tokens = Json::object();
  for (const auto& [name, id] : {std::pair("<|startoftranscript|>", special.sot),
                                 {"<|notimestamps|>", special.no_timestamps},
                                 {"<|endoftext|>", special.eot}})
    tokens[name] = {{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}};
}

Json byte_level(bool add_prefix_space) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", true}, {"use_regex", true}};
}

Json byte_pairs(Json vocab, Json merges) {
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"continuing_subword_prefix", ""},
          {"end_of_word_suffix", ""},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

}  // namespace

std::string Tokenizer::to_json(std::int32_t n_vocab) const {
  const auto& tokens = vocabulary_->tokens;
  const auto& special = vocabulary_->special;
  Json vocab = Json::object(), added = Json::array(), merges = Json::array();
  std::vector<std::pair<std::string, std::size_t>> texts;
  const auto named = std::max(tokens.size(), static_cast<std::size_t>(std::max(n_vocab, 0)));
  for (std::size_t at = 0; at < named; ++at) {
    const auto id = static_cast<std::int32_t>(at);
    const bool is_timestamp = id >= special.timestamp_begin;
    const std::string& token = at < tokens.size() ? tokens[at] : std::string();
    if (is_timestamp)
      added.push_back(added_token(id, timestamp_name(id - special.timestamp_begin), false));
    else if (!token.empty() && vocabulary_->ids.find(token) == id)
      texts.emplace_back(byte_level_of_bytes(token), at);
    else if (!token.empty())
      added.push_back(added_token(id, token, true));
  }
  for (auto& [text, id] : texts) vocab.get_ref<Json::object_t&>().emplace_back(std::move(text), id);
  for (const auto& [left, right] : vocabulary_->pairs->list(tokens, vocabulary_->byte_ids))
    merges.push_back(byte_level_of_bytes(tokens[static_cast<std::size_t>(left)]) + " " +
                     byte_level_of_bytes(tokens[static_cast<std::size_t>(right)]));
  const Json file{{"version", "1.0"},
                  {"truncation", nullptr},
                  {"padding", nullptr},
                  {"added_tokens", std::move(added)},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", byte_level(false)},
                  {"post_processor", template_of(special)},
                  {"decoder", byte_level(true)},
                  {"model", byte_pairs(std::move(vocab), std::move(merges))}};
  return file.dump();
}

}  // namespace tutti
