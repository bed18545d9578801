#pragma once

#include <string>

#include "base/json.h"
#include "text/utf8.h"

namespace tutti {

/// A tokenizer.json as a training of our own would write it: the 256 bytes, the merges "ab" and "abc", and special
/// tokens for two languages from id 300 on.
inline nlohmann::json small_tokenizer() {
  nlohmann::json vocab = nlohmann::json::object();
  char32_t shifted = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    std::string name;
    append_utf8(name, printable ? byte : shifted++);
    vocab[name] = byte;
  }
  vocab["ab"] = 256;
  vocab["abc"] = 257;
  nlohmann::json added = nlohmann::json::array();
  int id = 300;
  for (const char* name :
       {"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>",
        "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>", "<|0.00|>"})
    added.push_back({{"id", id++}, {"content", name}, {"special", true}});
  return {{"added_tokens", added}, {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b", "ab c"}}}}};
}

}  // namespace tutti
