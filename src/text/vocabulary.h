#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/byte_pairs.h"
#include "text/files/vocabulary_files.h"
#include "text/token_table.h"
#include "text/tokenizer.h"

namespace tutti {

/// What a Tokenizer works with. Not movable once built: `ids` points into `tokens`.
struct Tokenizer::Vocabulary {
  std::vector<std::string> tokens;  // by id: bytes of text tokens, names of special ones
  TokenTable ids;                   // text tokens only
  std::array<std::int32_t, 256> byte_ids{};
  std::optional<BytePairs> pairs;  // always set once built
  SpecialTokens special;

  static Result<std::shared_ptr<const Vocabulary>> build(VocabularyFile file, SpecialTokens special);
};

}  // namespace tutti
