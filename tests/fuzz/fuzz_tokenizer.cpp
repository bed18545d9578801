// libFuzzer: both readers of tokenizer files. The first byte picks the n_vocab that the model would name; what is
// accepted must encode and decode without loss.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static constexpr std::optional<std::int32_t> kSizes[] = {std::nullopt, 320, 51864, 51865, 51866};
  const std::string content(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto tokenizer = tutti::Tokenizer::parse(content, kSizes[data[0] % std::size(kSizes)]);
  if (!tokenizer) {
    if (tokenizer.error().what.empty()) std::abort();
    return 0;
  }
  const std::string text = "Hello, world! It's 12 o'clock <|en|> ♪♪";
  if (tokenizer->decode(tokenizer->encode(text)) != text) std::abort();
  const std::string bytes = tokenizer->decode(tokenizer->encode(content.substr(0, 1000)));
  if (tokenizer->decode(tokenizer->encode(bytes)) != bytes) std::abort();
  (void)tokenizer->non_speech_tokens();
  return 0;
}
