#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace tutti {

/// A symbol that is keyed by one pattern, and what it is written as: "A", "5", or "SK", whose characters are run
/// together.
struct SentSymbol {
  std::string_view text;
  std::string_view pattern;  ///< of '.' and '-'; empty for the space between words
};

inline constexpr std::size_t kSentSymbols = 47;

/// All symbols; the first is the space.
const std::array<SentSymbol, kSentSymbols>& sent_symbols();

/// How likely each symbol is behind others, in text as radio operators send it: n-grams of the texts that
/// `tutti synth morse` writes, smoothed by those that are shorter (Witten and Bell 1991). Immutable: any thread.
class SentText {
 public:
  /// The last four symbols, six bits each, the newest lowest. 0: spaces.
  using Context = std::uint32_t;
  using Logprobs = std::array<float, kSentSymbols>;

  /// The one of this process, counted at the first call.
  static const SentText& get();

  /// Of each symbol behind `context`.
  Logprobs after(Context context) const;
  static Context next(Context context, std::size_t symbol);

 private:
  SentText();

  static constexpr int kMost = 4;  // symbols of a context
  struct Followers {
    float all = 0, kinds = 0;
  };
  std::unordered_map<std::uint64_t, float> counts_;  // of a context and the symbol behind it
  std::unordered_map<std::uint64_t, Followers> followers_;
};

}  // namespace tutti
