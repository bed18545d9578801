#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::pair<std::string, std::int32_t>>;

constexpr std::string_view kEndOfText = "<|endoftext|>";

/// Reads {"token": id, ...} without making a tree of 50,000 values.
class IdReader final : public nlohmann::json_sax<Json> {
 public:
  Ids ids;
  std::string problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(value > kMostTokens ? kMostTokens : static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(text); }
  bool string(string_t& value) override { return unexpected("'" + value.substr(0, 40) + "'"); }
  bool binary(binary_t&) override { return unexpected("bytes"); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override { return depth_++ == 0 || unexpected("an object"); }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return unexpected("a list"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& last, const Json::exception&) override {
    problem = "damaged JSON at byte " + std::to_string(position) + ", after '" + last.substr(0, 40) + "'";
    return false;
  }

 private:
  bool unexpected(const std::string& found) {
    problem = depth_ == 0 ? "expected an object of tokens and ids, found " + found
                          : "'" + key_ + "': expected an id, found " + found;
    return false;
  }
  bool add(number_integer_t id) {
    if (depth_ == 0 || id < 0 || id >= kMostTokens) return unexpected(std::to_string(id));
    ids.emplace_back(std::move(key_), static_cast<std::int32_t>(id));
    return true;
  }

  std::string key_;
  int depth_ = 0;
};

Result<Ids> read_ids(const char* name, std::string_view content) {
  IdReader reader;
  if (Json::sax_parse(content.begin(), content.end(), &reader)) return std::move(reader.ids);
  return fail_in(name, {Fault::corrupt, std::move(reader.problem)});
}

/// {"added_tokens_decoder": {"50257": {"content": "<|endoftext|>", ...}, ...}}
Result<std::vector<AddedToken>> added_by_config(std::string_view content) {
  std::vector<AddedToken> added;
  const Json config = Json::parse(content, nullptr, false);
  if (!config.is_object()) return fail(Fault::corrupt, "tokenizer_config.json: expected a JSON object");
  const Json tokens = config.value("added_tokens_decoder", Json::object());
  for (const auto& [id, token] : tokens.items()) {
    const bool is_id = id.size() < 8 && is_all_digits(id);
    const Json content_of = token.is_object() ? token.value("content", Json()) : Json();
    if (!is_id || !content_of.is_string())
      return fail(Fault::corrupt,
                  "tokenizer_config.json, added_tokens_decoder: '" + id + "': expected a token's id and content");
    added.push_back({std::stoi(id), content_of.get<std::string>()});
  }
  return added;
}

Result<std::vector<AddedToken>> added_of(const Gpt2Files& files) {
  if (files.added_tokens.empty())
    return files.tokenizer_config.empty() ? std::vector<AddedToken>() : added_by_config(files.tokenizer_config);
  auto ids = TRY(read_ids("added_tokens.json", files.added_tokens));
  std::vector<AddedToken> added;
  for (auto& [name, id] : ids) added.push_back({id, std::move(name)});
  return added;
}

/// One merge a line, two tokens with a space between; the first line may name a version.
Result<std::vector<Merge>> read_merges(std::string_view content) {
  std::vector<Merge> merges;
  std::size_t number = 0;
  for (std::string_view line : split(content, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const auto space = line.find(' ');
    Merge merge;
    if (space == line.npos || !bytes_of_byte_level(line.substr(0, space), merge.first) ||
        !bytes_of_byte_level(line.substr(space + 1), merge.second))
      return fail(Fault::corrupt, "merges.txt, line " + std::to_string(number) + ": expected two tokens, found '" +
                                      std::string(line.substr(0, 80)) + "'");
    merges.push_back(std::move(merge));
  }
  return merges;
}

Result<void> assign_id(Ids& ids, VocabularyFile& file) {
  std::int32_t most = -1;
  for (const auto& [token, id] : ids) most = std::max(most, id);
  file.tokens.resize(static_cast<std::size_t>(most) + 1);
  std::vector<bool> taken(file.tokens.size());
  for (const auto& [token, id] : ids) {
    const auto at = static_cast<std::size_t>(id);
    if (taken[at]) return fail(Fault::corrupt, "vocab.json gives the id " + std::to_string(id) + " twice");
    taken[at] = true;
    if (!bytes_of_byte_level(token, file.tokens[at]))
      return fail(Fault::corrupt, "vocab.json: token '" + token + "' is not byte-level");
  }
  return {};
}

}  // namespace

Result<VocabularyFile> parse_gpt2_files(const Gpt2Files& files) {
  auto ids = TRY(read_ids("vocab.json", files.vocab));
  auto added = TRY(added_of(files));
  VocabularyFile file;
  // Models of English have <|endoftext|> among the tokens of text, and there alone.
  const auto end = std::ranges::find(ids, kEndOfText, &Ids::value_type::first);
  if (end != ids.end()) {
    const bool is_added = std::ranges::find(added, kEndOfText, &AddedToken::content) != added.end();
    if (!is_added && !added.empty()) added.push_back({end->second, std::string(kEndOfText)});
    ids.erase(end);
  }
  if (ids.empty()) return fail(Fault::corrupt, "vocab.json: expected tokens, found none");
  auto merges = TRY(read_merges(files.merges));
  TRY(assign_id(ids, file));
  file.merges = std::move(merges);
  file.added = std::move(added);
  return file;
}

}  // namespace tutti
