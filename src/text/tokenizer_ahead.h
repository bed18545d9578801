#pragma once

#include <filesystem>
#include <future>

#include "base/error.h"
#include "text/tokenizer.h"

namespace tutti {

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
