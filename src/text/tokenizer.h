#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

struct VocabularyFile;

/// The ids that steer a Whisper model. Which numbers they are depends on the vocabulary (text/special_tokens.h).
struct SpecialTokens {
  std::int32_t eot = 0;
  std::int32_t sot = 0;
  std::int32_t translate = 0;
  std::int32_t transcribe = 0;
  std::int32_t sot_lm = 0;
  std::int32_t sot_prev = 0;
  std::int32_t no_speech = 0;
  std::int32_t no_timestamps = 0;
  std::int32_t timestamp_begin = 0;           // 0.00 s; one id per 0.02 s from here
  std::vector<std::int32_t> languages{};      // in the order of `language_codes`
  std::vector<std::string> language_codes{};  // "en", "zh", ...
  bool multilingual = false;

  std::optional<std::int32_t> language_token(std::string_view code) const;
};

/// Byte-level BPE of GPT-2 with Whisper's special tokens, from the files of Hugging Face, OpenAI, CTranslate2 or
/// whisper.cpp. Immutable after loading; all methods are thread-safe.
class Tokenizer {
 public:
  /// From a model folder (tokenizer.json in it, else CTranslate2's vocabulary.json or .txt, else vocab.json with
  /// merges.txt and added_tokens.json, else *.tiktoken), one of these files (of several, vocab.json), or a model file
  /// of whisper.cpp. A .tiktoken or whisper.cpp file knows no special tokens: `n_vocab` (the model's) decides them. For
  /// an OpenAI .pt it also decides which of OpenAI's two vocabularies, both built in, is used.
  static Result<Tokenizer> load(const std::filesystem::path& path, std::optional<std::int32_t> n_vocab = {});

  /// As `load`, from the content of any of these files but vocabulary.txt, which nothing distinguishes from other text.
  static Result<Tokenizer> parse(std::string_view content, std::optional<std::int32_t> n_vocab = {});

  /// OpenAI's vocabulary for a model of that size: the English one up to 51864, else the multilingual one.
  static Result<Tokenizer> built_in(std::int32_t n_vocab);

  /// Ids of plain text; text that looks like a special token is encoded as text.
  std::vector<std::int32_t> encode(std::string_view utf8) const;

  /// Text of the ids below timestamp_begin, the others left out. Bytes that are not UTF-8 become U+FFFD, as in the
  /// reference. Special tokens below timestamp_begin are written out (<|endoftext|>), as in the reference; ids that no
  /// token has are left out.
  std::string decode(std::span<const std::int32_t> ids) const;
  /// As `decode`, with timestamps written out: <|1.08|>.
  std::string decode_with_timestamps(std::span<const std::int32_t> ids) const;

  /// Bytes of one id: those it spells, or a special token's name. Empty for timestamps and ids that no token has.
  std::string_view bytes_of(std::int32_t id) const;

  const SpecialTokens& special() const;

  /// Itself as a Hugging Face tokenizer.json for a model with `n_vocab` tokens, timestamps named to the last.
  std::string to_json(std::int32_t n_vocab) const;

  /// Ids of speaker tags and music signs, which `suppress_tokens=-1` names. None where tokens are single bytes: those
  /// of signs spell other things, too.
  std::vector<std::int32_t> non_speech_tokens() const;

  /// Ids of a single space, which no transcript may begin with; none where tokens are single bytes, and so every word
  /// begins with one.
  std::vector<std::int32_t> blank() const;

  /// sot, then language and task where the model is multilingual. `language` is a code; `task` is special().transcribe
  /// or .translate. Throws std::invalid_argument for a code that `special().language_token` does not know.
  std::vector<std::int32_t> sot_sequence(std::string_view language, std::int32_t task) const;

 private:
  bool spells_spaces() const;
  struct Vocabulary;
  explicit Tokenizer(std::shared_ptr<const Vocabulary> vocabulary);
  static Result<Tokenizer> build(Result<VocabularyFile> file, std::optional<std::int32_t> n_vocab);
  std::shared_ptr<const Vocabulary> vocabulary_;
};

/// A tokenizer that is read, on a thread of its own, while its model is: reading takes 40 ms, and only the model knows
/// the size of its vocabulary. One thread; waits for the other when it goes.
class TokenizerAhead {
 public:
  /// `path`: as for Tokenizer::load.
  explicit TokenizerAhead(std::filesystem::path path);

  /// What Tokenizer::load gives for a model of that size. Waits. Once.
  Result<Tokenizer> get(std::int32_t n_vocab);

 private:
  std::filesystem::path path_;
  std::future<Result<Tokenizer>> read_;
};

}  // namespace tutti
