// libFuzzer: all readers of tokenizer files. The first byte picks the n_vocab that the model would name; what is
// accepted must encode and decode without loss. CTranslate2's lists are known by their files' names, so they are read
// apart as well.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "text/files/vocabulary_files.h"
#include "text/tokenizer.h"

namespace {

/// Every token takes at least a byte, and what is behind the tokens of text has ids that go on.
void expect_audio(const tutti::Result<tutti::VocabularyFile>& list, std::size_t size) {
  if (!list) {
    if (list.error().what.empty()) std::abort();
    return;
  }
  auto id = static_cast<std::int32_t>(list->tokens.size());
  for (const auto& added : list->added)
    if (added.id != id++) std::abort();
  if (static_cast<std::size_t>(id) > size) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static constexpr std::optional<std::int32_t> kSizes[] = {std::nullopt, 320, 51864, 51865, 51866};
  const std::string content(reinterpret_cast<const char*>(data + 1), size - 1);
  expect_audio(tutti::parse_vocabulary_json(content), content.size());
  expect_audio(tutti::parse_vocabulary_txt(content), content.size());
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
