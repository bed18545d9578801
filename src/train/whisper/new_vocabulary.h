#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "text/tokenizer.h"

namespace tutti {

/// A tokenizer for a network that is trained from nothing, and the size of its vocabulary.
struct NewVocabulary {
  Tokenizer tokenizer;
  std::int32_t n_vocab = 0;
};

/// `name`: "bytes" (one token a byte, Whisper's special tokens and 1501 times behind them, no languages), "english" or
/// "multilingual" (OpenAI's), or the path of a tokenizer file or model folder.
Result<NewVocabulary> new_vocabulary(const std::string& name);

}  // namespace tutti
