#include "link/emulated/emulated_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/random/split_mix.h"

namespace tutti {
namespace {

constexpr double kWordsPerFrame = 0.025;  // 2.5 a second
constexpr std::int32_t kWordsPerSentence = 10;

}  // namespace

std::uint64_t content_of(std::span<const float> mel) {
  std::uint64_t sum = mel.size();
  for (const float value : mel) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3U;
  }
  return split_mixed(sum);
}

std::vector<std::int32_t> emulated_text(const EmulatedSpeech& speech, std::uint64_t content, std::int32_t frames,
                                        bool timestamps, std::int32_t max_tokens) {
  const auto words = std::max(1, static_cast<std::int32_t>(std::lround(frames * kWordsPerFrame)));
  const std::int32_t last_step = frames / 2;  // timestamps count 0.02 s, frames 0.01 s
  const auto time_at = [&](std::int32_t word) { return speech.timestamp_begin + last_step * word / words; };
  std::vector<std::int32_t> tokens;
  for (std::int32_t first = 0; first < words; first += kWordsPerSentence) {
    const std::int32_t behind = std::min(words, first + kWordsPerSentence);
    std::vector<std::int32_t> sentence;
    if (timestamps) sentence.push_back(time_at(first));
    for (std::int32_t word = first; word < behind; ++word) {
      const auto& ids = speech.words[split_mixed(content + static_cast<std::uint64_t>(word)) % speech.words.size()];
      sentence.insert(sentence.end(), ids.begin(), ids.end());
    }
    sentence.insert(sentence.end(), speech.stop.begin(), speech.stop.end());
    if (timestamps) sentence.push_back(time_at(behind));
    if (tokens.size() + sentence.size() > static_cast<std::size_t>(std::max(0, max_tokens))) break;
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  }
  return tokens;
}

}  // namespace tutti
