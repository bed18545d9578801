#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/byte_pairs.h"

namespace tutti {

/// A token outside the merges: an id with a name such as <|endoftext|>.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
};

/// The content of a tokenizer file, before anything is concluded from it.
struct VocabularyFile {
  std::vector<std::string> tokens;  // bytes, at their id; ids without an entry are empty
  std::vector<Merge> merges;        // empty: by rank
  std::vector<AddedToken> added;
};

/// OpenAI's form: one token a line, base64 bytes and rank.
Result<VocabularyFile> parse_tiktoken(std::string_view content);

/// Hugging Face's form (model.type BPE, byte-level): model.vocab, model.merges and added_tokens are read, the rest is
/// fixed by what Whisper is.
Result<VocabularyFile> parse_tokenizer_json(std::string_view content);

/// CTranslate2's forms, a list of all tokens by id: vocabulary.json, a JSON array, and vocabulary.txt, one token a
/// line. Tokens of text are byte-level, as Hugging Face writes them; <|endoftext|> and what follows are added tokens.
Result<VocabularyFile> parse_vocabulary_json(std::string_view content);
Result<VocabularyFile> parse_vocabulary_txt(std::string_view content);

/// GPT-2's form, which transformers writes where it saves a tokenizer without tokenizer.json: the contents of these
/// files. Those that are absent are empty; the first two are needed.
struct Gpt2Files {
  std::string_view vocab{};             // vocab.json: {"token": id}, byte-level
  std::string_view merges{};            // merges.txt: two tokens a line, the first merge first
  std::string_view added_tokens{};      // added_tokens.json: {"<|startoftranscript|>": id, ...}
  std::string_view tokenizer_config{};  // tokenizer_config.json: its added_tokens_decoder replaces the file above
};
/// Where neither of the last two names special tokens, the vocabulary's size decides them, as for a .tiktoken file.
Result<VocabularyFile> parse_gpt2_files(const Gpt2Files& files);

/// Ids above this are taken for damage rather than for a vocabulary.
inline constexpr std::int32_t kMostTokens = 1'000'000;

}  // namespace tutti
