#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

namespace tutti {

struct SpecialTokens;

/// The token ids that the search itself must know; everything else is only a number to it.
struct DecodingTokens {
  std::int32_t eot = 0;
  std::int32_t timestamp_begin = 0;             // 0.00 s; every id from here on is a time
  std::optional<std::int32_t> no_timestamps{};  // none: the vocabulary has no such token
  std::optional<std::int32_t> no_speech{};      // likewise
  std::vector<std::int32_t> blank{};            // ids of a single space, which no transcript may begin with
};

/// The ids of a tokenizer, for a model whose logits have `n_vocab` columns: the search writes to them by these ids. An
/// error names the first of them, or of the languages and the start of a transcript, that is outside.
Result<DecodingTokens> decoding_tokens(const SpecialTokens& special, std::vector<std::int32_t> blank,
                                       std::int32_t n_vocab);

}  // namespace tutti
