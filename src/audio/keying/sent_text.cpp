#include "audio/keying/sent_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "audio/synth/contest.h"
#include "audio/synth/morse_code.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr int kBits = 6;  // of a symbol in a context
static_assert(kSentSymbols <= 1U << kBits);

std::uint64_t key_of(std::uint32_t context, int length) {
  return (std::uint64_t{context} & ((1ULL << (kBits * length)) - 1)) | static_cast<std::uint64_t>(length) << 32;
}

std::uint64_t key_of(std::uint32_t context, int length, std::size_t symbol) {
  return key_of(context, length) | static_cast<std::uint64_t>(symbol) << 40;
}

/// A text as the numbers of its symbols, with a space before and behind each word.
std::vector<std::size_t> symbols_of(std::string_view text) {
  const auto& all = sent_symbols();
  std::vector<std::size_t> symbols{0};
  const auto add = [&](std::string_view pattern) {
    const auto found = std::ranges::find(all, pattern, &SentSymbol::pattern);
    if (!pattern.empty() && found != all.end()) symbols.push_back(static_cast<std::size_t>(found - all.begin()));
  };
  for (const std::string_view word : split(text, ' ')) {
    std::string run;  // of a prosign
    for (const char c : word) word.starts_with('^') ? void(run += morse_pattern(c)) : add(morse_pattern(c));
    add(run);
    if (symbols.back() != 0) symbols.push_back(0);
  }
  return symbols;
}

}  // namespace

const std::array<SentSymbol, kSentSymbols>& sent_symbols() {
  static const auto made = [] {
    constexpr std::string_view kWritten = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?/.,=";
    constexpr std::array kOthers{SentSymbol{"AR", ".-.-."}, SentSymbol{"KN", "-.--."}, SentSymbol{"SK", "...-.-"},
                                 SentSymbol{"AS", ".-..."}, SentSymbol{"-", "-....-"}};
    static_assert(1 + kWritten.size() + kOthers.size() == kSentSymbols);
    std::array<SentSymbol, kSentSymbols> all{SentSymbol{" ", ""}};
    for (std::size_t i = 0; i < kWritten.size(); ++i) all[1 + i] = {kWritten.substr(i, 1), morse_pattern(kWritten[i])};
    std::ranges::copy(kOthers, all.begin() + 1 + kWritten.size());
    return all;
  }();
  return made;
}

const SentText& SentText::get() {
  static const SentText made;
  return made;
}

SentText::SentText() {
  constexpr std::uint64_t kTexts = 5000, kSeed = 0x6b657965;
  constexpr double kPlain = 0.3, kContact = 0.5;  // shares; the others are of contests
  for (std::uint64_t i = 0; i < kTexts; ++i) {
    CounterRandom random{kSeed, i};
    const double kind = random.uniform();
    const auto symbols = symbols_of((kind < kPlain              ? plain_text(random)
                                     : kind < kPlain + kContact ? contact_text(random)
                                                                : contest_text(random))
                                        .text);
    Context context = 0;
    for (std::size_t at = 1; at < symbols.size(); ++at) {
      for (int length = 0; length <= std::min(kMost, static_cast<int>(at)); ++length) {
        float& count = counts_[key_of(context, length, symbols[at])];
        Followers& followers = followers_[key_of(context, length)];
        if (count == 0) ++followers.kinds;
        ++count;
        ++followers.all;
      }
      context = next(context, symbols[at]);
    }
  }
}

SentText::Logprobs SentText::after(Context context) const {
  constexpr double kEven = 0.03;  // of what no text of these has
  std::array<double, kSentSymbols> shares;
  shares.fill(1.0 / kSentSymbols);
  for (int length = 0; length <= kMost; ++length) {
    const auto found = followers_.find(key_of(context, length));
    if (found == followers_.end()) break;
    for (std::size_t symbol = 0; symbol < kSentSymbols; ++symbol) {
      const auto count = counts_.find(key_of(context, length, symbol));
      const double seen = count == counts_.end() ? 0 : count->second;
      shares[symbol] = (seen + found->second.kinds * shares[symbol]) / (found->second.all + found->second.kinds);
    }
  }
  Logprobs logprobs;
  for (std::size_t symbol = 0; symbol < kSentSymbols; ++symbol)
    logprobs[symbol] = static_cast<float>(std::log((1 - kEven) * shares[symbol] + kEven / kSentSymbols));
  return logprobs;
}

SentText::Context SentText::next(Context context, std::size_t symbol) {
  return (context << kBits | static_cast<Context>(symbol)) & ((1U << (kBits * kMost)) - 1);
}

}  // namespace tutti
