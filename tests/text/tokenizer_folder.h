#pragma once

#include <filesystem>
#include <stdexcept>

#include "base/files.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "text/tokenizer.h"

namespace tutti {

/// A multilingual tokenizer.json: Hugging Face's, `path` of the test data, else the one that Tutti writes from OpenAI's
/// vocabulary of that size, in `folder`.
inline std::filesystem::path multilingual_json(const TempFolder& folder, const std::filesystem::path& path,
                                               std::int32_t n_vocab) {
  const auto stored = test_data() / path;
  if (std::filesystem::exists(stored)) return stored;
  const auto openai = Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken", n_vocab).value();
  const auto written = folder / "multilingual" / "tokenizer.json";
  if (!write_file_atomically(written, openai.to_json(n_vocab))) throw std::runtime_error("no " + written.string());
  return written;
}

}  // namespace tutti
