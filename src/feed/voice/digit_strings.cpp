#include "feed/voice/digit_strings.h"

#include <algorithm>
#include <cstdio>

#include "base/random/counter_random.h"

namespace tutti {
namespace {

/// "jackson_000012".
std::string name_of(const std::string& speaker, std::int64_t index) {
  char number[32];
  std::snprintf(number, sizeof number, "_%06lld", static_cast<long long>(index));
  return speaker + number;
}

}  // namespace

std::vector<DigitString> draw_digit_strings(const std::vector<VoiceSource>& clips, const DigitStringOptions& options,
                                            const std::set<std::string>& excluded) {
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> takes;  // by speaker and digit
  for (std::size_t i = 0; i < clips.size(); ++i)
    if (clips[i].problem.empty()) takes[clips[i].speaker][clips[i].text].push_back(i);
  std::vector<DigitString> strings;
  constexpr std::int64_t kTries = 20;  // for a text that is still free; strings of two digits are soon used up
  for (const auto& [speaker, by_digit] : takes) {
    std::set<std::string> used = excluded;
    for (std::int64_t i = 0, tries = 0; i < options.count && tries < kTries * options.count; ++tries) {
      CounterRandom random({options.seed, digest(speaker), static_cast<std::uint64_t>(tries)});
      const auto size = options.least + random.below(options.most - options.least + 1);
      DigitString string{.name = name_of(speaker, i), .speaker = speaker, .key = random.bits64()};
      for (std::int64_t digit = 0; digit < size; ++digit) {
        const auto& [word, clips_of_word] = *std::next(by_digit.begin(), random.below(std::ssize(by_digit)));
        string.text += (digit > 0 ? " " : "") + word;
        string.clips.push_back(clips_of_word[static_cast<std::size_t>(random.below(std::ssize(clips_of_word)))]);
      }
      if (!used.insert(string.text).second) continue;
      strings.push_back(std::move(string));
      ++i;
    }
  }
  return strings;
}

std::vector<float> join_digits(const DigitString& string, const std::map<std::size_t, std::vector<float>>& digits,
                               Hertz rate) {
  constexpr double kShortest = 0.04, kLongest = 0.25;  // seconds
  CounterRandom random(string.key);
  std::vector<float> audio;
  const auto add_pause = [&] {
    audio.resize(audio.size() +
                 static_cast<std::size_t>(samples_in(Seconds(random.uniform(kShortest, kLongest)), rate)));
  };
  for (const std::size_t clip : string.clips) {
    add_pause();
    const auto& digit = digits.at(clip);
    audio.insert(audio.end(), digit.begin(), digit.end());
  }
  add_pause();
  return audio;
}

}  // namespace tutti
