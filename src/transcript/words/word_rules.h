#pragma once

#include <optional>
#include <string>

namespace tutti {

/// openai-whisper's options for word times. Defaults are the reference's.
struct WordRules {
  std::string prepend_punctuations = "\"'“¿([{-";                // belong to the word behind them
  std::string append_punctuations = "\"'.。,，!！?？:：”)]}、";  // belong to the word before them
  /// Seconds: silence longer than this beside words that look invented is skipped, and they are dropped. None: never.
  std::optional<double> hallucination_silence_threshold{};
  bool operator==(const WordRules&) const = default;
};

}  // namespace tutti
