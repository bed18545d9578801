
#include "base/json.h"
#include "base/try.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Takes the few parts we need out of the event stream; 2.4 MB as a tree of values would cost twice the time.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  VocabularyFile file;
  std::vector<std::pair<std::string, std::int32_t>> entries;  // entries of model.vocab, as bytes
  std::string model_type;
  std::string problem;  // why reading stopped

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return number(value > kMostTokens ? kMostTokens : static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& value) override {
    switch (here()) {
      case Section::added_token:
        if (key_ == "content") file.added.back().content = std::move(value);
        return true;
      case Section::model:
        if (key_ == "type") model_type = std::move(value);
        return true;
      case Section::merges: return spaced_merge(value);
      case Section::merge: return half_merge(value);
      default: return true;
    }
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override {
    const Section inner = inner_section(true);
    if (inner == Section::added_token) file.added.push_back({-1, {}});
    return enter(inner);
  }
  bool start_array(std::size_t) override {
    const Section inner = inner_section(false);
    if (inner == Section::merge) halves_.clear();
    return enter(inner);
  }
  bool end_object() override { return leave(); }
  bool end_array() override {
    if (here() == Section::merge) {
      if (halves_.size() != 2) return stop("merge " + std::to_string(file.merges.size()) + ": expected two tokens");
      file.merges.emplace_back(std::move(halves_[0]), std::move(halves_[1]));
    }
    return leave();
  }

  bool parse_error(std::size_t position, const std::string& last, const Json::exception&) override {
    return stop("damaged JSON at byte " + std::to_string(position) + ", after '" + last.substr(0, 40) + "'");
  }

 private:
  enum class Section { nowhere, top, model, vocab, merges, merge, added, added_token };

  Section here() const { return sections_.empty() ? Section::nowhere : sections_.back(); }

  Section inner_section(bool object) const {
    if (sections_.empty()) return object ? Section::top : Section::nowhere;
    switch (here()) {
      case Section::top:
        if (key_ == "model" && object) return Section::model;
        return key_ == "added_tokens" && !object ? Section::added : Section::nowhere;
      case Section::model:
        if (key_ == "vocab" && object) return Section::vocab;
        return key_ == "merges" && !object ? Section::merges : Section::nowhere;
      case Section::merges: return object ? Section::nowhere : Section::merge;
      case Section::added: return object ? Section::added_token : Section::nowhere;
      default: return Section::nowhere;
    }
  }
  bool enter(Section section) {
    sections_.push_back(section);
    return true;
  }
  bool leave() {
    sections_.pop_back();
    return true;
  }
  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }

  bool number(number_integer_t value) {
    const bool is_id = here() == Section::vocab || (here() == Section::added_token && key_ == "id");
    if (!is_id) return true;
    if (value < 0 || value >= kMostTokens) return stop("the id of '" + key_ + "' is no token id");
    if (here() == Section::added_token) {
      file.added.back().id = static_cast<std::int32_t>(value);
      return true;
    }
    entries.emplace_back(std::string(), static_cast<std::int32_t>(value));
    if (bytes_of_byte_level(key_, entries.back().first)) return true;
    return stop("token '" + key_ + "' is not byte-level");
  }

  bool spaced_merge(std::string_view text) {
    const std::size_t space = text.find(' ');
    Merge merge;
    if (space == text.npos || !bytes_of_byte_level(text.substr(0, space), merge.first) ||
        !bytes_of_byte_level(text.substr(space + 1), merge.second))
      return stop("merge " + std::to_string(file.merges.size()) + ": expected two tokens, found '" + std::string(text) +
                  "'");
    file.merges.push_back(std::move(merge));
    return true;
  }
  bool half_merge(std::string_view text) {
    halves_.emplace_back();
    if (bytes_of_byte_level(text, halves_.back())) return true;
    return stop("merge " + std::to_string(file.merges.size()) + ": '" + std::string(text) + "' is not byte-level");
  }

  std::vector<Section> sections_;
  std::string key_;
  std::vector<std::string> halves_;
};

/// Puts the entries at their ids. An id that comes twice is damage.
Result<void> assign_tokens(std::vector<std::pair<std::string, std::int32_t>>& entries, VocabularyFile& file) {
  std::int32_t most = -1;
  for (const auto& [bytes, id] : entries) most = std::max(most, id);
  file.tokens.resize(static_cast<std::size_t>(most) + 1);
  std::vector<bool> taken(file.tokens.size());
  for (auto& [bytes, id] : entries) {
    const auto at = static_cast<std::size_t>(id);
    if (taken[at]) return fail(Fault::corrupt, "model.vocab gives the id " + std::to_string(id) + " twice");
    taken[at] = true;
    file.tokens[at] = std::move(bytes);
  }
  return {};
}

}  // namespace

Result<VocabularyFile> parse_tokenizer_json(std::string_view content) {
  Reader reader;
  if (!Json::sax_parse(content.begin(), content.end(), &reader)) return fail(Fault::corrupt, reader.problem);
  if (reader.model_type != "BPE" && !(reader.model_type.empty() && !reader.file.merges.empty()))
    return fail(Fault::unsupported, "model.type: expected BPE, found '" + reader.model_type + "'");
  if (reader.entries.empty()) return fail(Fault::corrupt, "model.vocab: expected tokens, found none");
  for (const AddedToken& token : reader.file.added)
    if (token.id < 0) return fail(Fault::corrupt, "added_tokens: '" + token.content + "' has no id");
  TRY(assign_tokens(reader.entries, reader.file));
  return std::move(reader.file);
}

}  // namespace tutti
