#include "text/tokenizer.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/files.h"
#include "base/try.h"
#include "text/code_points.h"
#include "text/files/vocabulary_files.h"
#include "text/special_tokens.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace tutti {
namespace {

enum class Kind { letter, number, space, other };

Kind kind_of(char32_t value) {
  if (is_letter(value)) return Kind::letter;
  if (is_number(value)) return Kind::number;
  return is_white_space(value) ? Kind::space : Kind::other;
}

/// Bytes of the longest run of one kind from `at` on.
std::size_t run(std::string_view text, std::size_t at, Kind kind) {
  std::size_t end = at;
  while (end < text.size()) {
    const CodePoint point = code_point_at(text, end);
    if (kind_of(point.value) != kind) break;
    end += point.size;
  }
  return end - at;
}

std::size_t contraction(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kEndings = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view ending : kEndings)
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

/// White space before a word leaves its last character to that word (only U+0020 then joins it).
std::size_t white_space(std::string_view text) {
  const std::size_t all = run(text, 0, Kind::space);
  if (all == text.size()) return all;
  std::size_t last = all - 1;
  while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
  return last == 0 ? all : last;
}

/// Bytes of the first piece of `text` (which must not be empty, and valid UTF-8) by the expression that GPT-2 splits
/// text with before merging; no token crosses a border between pieces:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t first_piece(std::string_view text) {
  if (const std::size_t size = contraction(text)) return size;
  const std::size_t lead = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Kind kind = kind_of(code_point_at(text, lead).value);
  return kind == Kind::space ? white_space(text) : lead + run(text, lead, kind);
}

namespace fs = std::filesystem;

constexpr const char* kVocabularyTxt = "vocabulary.txt";
constexpr const char* kVocabJson = "vocab.json";  // GPT-2's, of several files

Result<fs::path> file_in(const fs::path& path) {
  std::error_code ignored;  // reading the file reports what matters
  if (!fs::is_directory(path, ignored)) return path;
  for (const char* name : {"tokenizer.json", "vocabulary.json", kVocabularyTxt})
    if (fs::exists(path / name, ignored)) return path / name;
  if (fs::exists(path / kVocabJson, ignored) && fs::exists(path / "merges.txt", ignored)) return path / kVocabJson;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (entry.path().extension() == ".tiktoken") found.push_back(entry.path());
  if (found.size() == 1) return found.front();
  return fail(Fault::missing,
              path.string() + ": expected tokenizer.json, vocab.json with merges.txt, or one .tiktoken file, found " +
                  std::to_string(found.size()) + " .tiktoken files",
              "Copy tokenizer.json from where the model came from");
}

/// The content of a file that need not be there.
Result<std::string> content_if_there(const fs::path& path) {
  auto content = read_regular_file(path);
  if (!content && content.error().fault == Fault::missing) return std::string();
  return content;
}

/// vocab.json and the files beside it.
Result<VocabularyFile> read_gpt2_files(const fs::path& vocab_json) {
  const fs::path folder = vocab_json.parent_path();
  const auto vocab = read_regular_file(vocab_json), merges = read_regular_file(folder / "merges.txt"),
             added = content_if_there(folder / "added_tokens.json"),
             config = content_if_there(folder / "tokenizer_config.json");
  for (const auto* file : {&vocab, &merges, &added, &config})
    if (!*file) return tl::unexpected(file->error());
  return parse_gpt2_files({*vocab, *merges, *added, *config});
}

/// By the first characters: a tokenizer.json is an object, a vocabulary.json an array; base64 has neither's bracket.
Result<VocabularyFile> parse_vocabulary(std::string_view content) {
  if (is_ggml(content)) {
    const auto head = TRY(parse_ggml_head(content));
    return vocabulary_of(head);
  }
  const auto first = content.find_first_not_of(" \t\r\n");
  if (first != content.npos && content[first] == '[') return parse_vocabulary_json(content);
  const bool json = content.substr(0, 64).find('{') != content.npos;
  return json ? parse_tokenizer_json(content) : parse_tiktoken(content);
}

}  // namespace

std::string timestamp_name(std::int32_t steps) {
  char text[32];
  std::snprintf(text, sizeof text, "<|%d.%02d|>", steps / 50, steps % 50 * 2);
  return text;
}

Tokenizer::Tokenizer(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

Result<Tokenizer> Tokenizer::build(Result<VocabularyFile> file, std::optional<std::int32_t> n_vocab) {
  if (!file) return tl::unexpected(file.error());
  auto special = TRY(file->added.empty() ? special_tokens_for(static_cast<std::int32_t>(file->tokens.size()), n_vocab)
                                         : special_tokens_from(file->added, n_vocab));
  auto vocabulary = TRY(Vocabulary::build(std::move(*file), std::move(special)));
  return Tokenizer(std::move(vocabulary));
}

Result<Tokenizer> Tokenizer::parse(std::string_view content, std::optional<std::int32_t> n_vocab) {
  return build(parse_vocabulary(content), n_vocab);
}

Result<Tokenizer> Tokenizer::built_in(std::int32_t n_vocab) {
  return build(openai_vocabulary(n_vocab), n_vocab);
}

Result<Tokenizer> Tokenizer::load(const fs::path& path, std::optional<std::int32_t> n_vocab) {
  if (path.extension() == ".pt") {
    if (!n_vocab) return fail(Fault::usage, path.string() + ": a .pt names no vocabulary; its size must be given");
    auto known = built_in(*n_vocab);
    if (!known) return fail_in(path.string(), std::move(known.error()));
    return known;
  }
  const auto file = TRY(file_in(path));
  if (file.filename() == kVocabJson) {
    auto several = build(read_gpt2_files(file), n_vocab);
    if (!several) return fail_in(folder_of(file).string(), std::move(several.error()));
    return several;
  }
  const auto content = TRY(MappedFile::open(file));
  auto tokenizer = file.filename() == kVocabularyTxt ? build(parse_vocabulary_txt(content.text()), n_vocab)
                                                     : parse(content.text(), n_vocab);
  if (!tokenizer) return fail_in(file.string(), std::move(tokenizer.error()));
  return tokenizer;
}

const SpecialTokens& Tokenizer::special() const {
  return vocabulary_->special;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view utf8) const {
  const std::string text = replace_invalid_utf8(std::string(utf8));
  std::string_view rest = text;
  std::vector<std::int32_t> ids, symbols;
  ids.reserve(text.size() / 3);
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, first_piece(rest));
    rest.remove_prefix(piece.size());
    if (const std::int32_t whole = vocabulary_->ids.find(piece); whole != TokenTable::kNone) {
      ids.push_back(whole);
      continue;
    }
    symbols.clear();
    for (const char byte : piece) symbols.push_back(vocabulary_->byte_ids[static_cast<unsigned char>(byte)]);
    vocabulary_->pairs->merge(symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) bytes += bytes_of(id);
  return replace_invalid_utf8(std::move(bytes));
}

std::string_view Tokenizer::bytes_of(std::int32_t id) const {
  const bool known = id >= 0 && static_cast<std::size_t>(id) < vocabulary_->tokens.size();
  return known && id < special().timestamp_begin ? vocabulary_->tokens[static_cast<std::size_t>(id)]
                                                 : std::string_view();
}

std::string Tokenizer::decode_with_timestamps(std::span<const std::int32_t> ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    if (id >= special().timestamp_begin)
      bytes += timestamp_name(id - special().timestamp_begin);
    else
      bytes += bytes_of(id);
  }
  return replace_invalid_utf8(std::move(bytes));
}

bool Tokenizer::spells_spaces() const {
  return encode(" a").front() == encode(" ").front();
}

std::vector<std::int32_t> Tokenizer::blank() const {
  return spells_spaces() ? std::vector<std::int32_t>() : encode(" ");
}

std::vector<std::int32_t> Tokenizer::non_speech_tokens() const {
  if (spells_spaces()) return {};
  static constexpr std::string_view kSymbols[] = {
      "\"",  "#",  "(",  ")",  "*",   "+",  "/",  ":",   ";",   "<",  "=",  ">",  "@",  "[",   "\\",  "]",
      "^",   "_",  "`",  "{",  "|",   "}",  "~",  "「",  "」",  "『", "』", "<<", ">>", "<<<", ">>>", "--",
      "---", "-(", "-[", "('", "(\"", "((", "))", "(((", ")))", "[[", "]]", "{{", "}}", "♪♪",  "♪♪♪"};
  // These share their first bytes, so where they are several tokens the first one is enough.
  static constexpr std::string_view kMusic[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};

  // Hyphen and apostrophe stay allowed inside words, but not at the start of one.
  std::set<std::int32_t> ids = {encode(" -").front(), encode(" '").front()};
  const auto add = [&](const std::string& text, bool if_single) {
    const auto found = encode(text);
    if (!if_single || found.size() == 1) ids.insert(found.front());
  };
  for (const std::string_view symbol : kSymbols) {
    add(std::string(symbol), true);
    add(" " + std::string(symbol), true);
  }
  for (const std::string_view symbol : kMusic) {
    add(std::string(symbol), false);
    add(" " + std::string(symbol), false);
  }
  return {ids.begin(), ids.end()};
}

std::vector<std::int32_t> Tokenizer::sot_sequence(std::string_view language, std::int32_t task) const {
  if (!special().multilingual) return {special().sot};
  const auto token = special().language_token(language);
  if (!token) throw std::invalid_argument("no token for the language '" + std::string(language) + "'");
  return {special().sot, *token, task};
}

TokenizerAhead::TokenizerAhead(std::filesystem::path path)
    : path_(std::move(path)),
      read_(std::async(std::launch::async, [path = path_] { return Tokenizer::load(path, std::nullopt); })) {}

Result<Tokenizer> TokenizerAhead::get(std::int32_t n_vocab) {
  auto tokenizer = read_.get();
  // Another size means other special tokens, or a tokenizer that is not the model's; a .pt cannot be read without it.
  if (tokenizer && tokenizer->special().timestamp_begin + kTimestampTokens == n_vocab) return tokenizer;
  return Tokenizer::load(path_, n_vocab);
}

}  // namespace tutti
