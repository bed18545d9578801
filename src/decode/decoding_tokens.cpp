#include "decode/decoding_tokens.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

Result<void> expect_within(std::string_view name, std::int32_t id, std::int32_t n_vocab) {
  if (id >= 0 && id < n_vocab) return {};
  return fail(
      Fault::corrupt,
      std::string(name) + " is token " + std::to_string(id) + ", the model's vocabulary has " + std::to_string(n_vocab),
      "The tokenizer belongs to another model");
}

Result<void> expect_all_within(std::string_view name, const std::vector<std::int32_t>& ids, std::int32_t n_vocab) {
  for (const auto id : ids)
    if (auto within = expect_within(name, id, n_vocab); !within) return within;
  return {};
}

Result<void> expect_specials_within(const SpecialTokens& special, std::int32_t n_vocab) {
  for (const auto& [name, id] : {std::pair{"<|endoftext|>", special.eot},
                                 {"<|startoftranscript|>", special.sot},
                                 {"<|notimestamps|>", special.no_timestamps},
                                 {"<|nospeech|>", special.no_speech},
                                 {"<|0.00|>", special.timestamp_begin}})
    if (auto within = expect_within(name, id, n_vocab); !within) return within;
  return expect_all_within("a language", special.languages, n_vocab);
}

std::optional<std::int32_t> if_present(std::int32_t id) {
  return id > 0 ? std::optional(id) : std::nullopt;
}

}  // namespace

Result<DecodingTokens> decoding_tokens(const SpecialTokens& special, std::vector<std::int32_t> blank,
                                       std::int32_t n_vocab) {
  TRY(expect_specials_within(special, n_vocab));
  TRY(expect_all_within("a single space", blank, n_vocab));
  return DecodingTokens{.eot = special.eot,
                        .timestamp_begin = special.timestamp_begin,
                        .no_timestamps = if_present(special.no_timestamps),
                        .no_speech = if_present(special.no_speech),
                        .blank = std::move(blank)};
}

}  // namespace tutti
