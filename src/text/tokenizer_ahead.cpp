#include "text/tokenizer_ahead.h"

#include "text/special_tokens.h"

namespace tutti {

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
