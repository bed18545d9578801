#pragma once

#include <cstddef>
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

/// Byte-level vocabularies (GPT-2's and all that came from it) write every byte as a printable character. Turns such a
/// text into its bytes; false where it holds a character that means no byte.
bool bytes_of_byte_level(std::string_view text, std::string& bytes);

/// The other way round.
std::string byte_level_of_bytes(std::string_view bytes);

// Tokens of OpenAI's models, n_vocab of their dimensions ...
inline constexpr std::int32_t kEnglishVocabulary = 51864;
inline constexpr std::int32_t kMultilingualVocabulary = 51865;  // up to large-v2
inline constexpr std::int32_t kLargeV3Vocabulary = 51866;       // one language more
// ... and how many of them are text. Special tokens and timestamps follow.
inline constexpr std::int32_t kEnglishTextTokens = 50256;
inline constexpr std::int32_t kMultilingualTextTokens = 50257;

/// The tokens that OpenAI's models of this vocabulary size were trained with, built into the program: their .pt files
/// carry weights only. kEnglishVocabulary and less: GPT-2's, for English; more: the multilingual one.
VocabularyFile openai_vocabulary(std::int32_t n_vocab);

/// What precedes the tensors in a model file of whisper.cpp ("ggml-tiny.en.bin").
struct GgmlHead {
  std::int32_t n_vocab = 0;
  std::int32_t n_audio_ctx = 0;
  std::int32_t n_audio_state = 0;
  std::int32_t n_audio_head = 0;
  std::int32_t n_audio_layer = 0;
  std::int32_t n_text_ctx = 0;
  std::int32_t n_text_state = 0;
  std::int32_t n_text_head = 0;
  std::int32_t n_text_layer = 0;
  std::int32_t n_mels = 0;
  std::int32_t file_type = 0;              // 1000 * version of the quantised blocks + the type most tensors have
  std::vector<std::string_view> tokens{};  // tokens of text, as bytes, by id; they point into the file
  std::size_t tensors_at = 0;              // offset of the first tensor
};

/// Whether `file` begins as whisper.cpp's models do.
bool is_ggml(std::string_view file);

/// Reads the head (format: models/convert-pt-to-ggml.py of whisper.cpp); every length is checked.
Result<GgmlHead> parse_ggml_head(std::string_view file);

/// The tokens as a vocabulary without merges.
VocabularyFile vocabulary_of(const GgmlHead& head);

}  // namespace tutti
