#include "train/tts/speech_times.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json.h"

namespace tutti {
namespace {

std::string srt_time(double seconds) {
  const auto all = std::llround(seconds * 1000);
  char text[32];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld,%03lld", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60,
                all % 1000);
  return text;
}

nlohmann::ordered_json json_of(const std::vector<TimedPart>& parts) {
  const auto rounded = [](double seconds) { return std::round(seconds * 1000) / 1000; };
  auto json = nlohmann::ordered_json::array();
  for (const auto& part : parts)
    json.push_back({{"text", part.text}, {"start", rounded(part.start)}, {"end", rounded(part.end)}});
  return json;
}

}  // namespace

void SpeechTimes::add(const std::string& sentence, const Speech& speech,
                      const std::vector<std::string>& symbols_by_number, const SpokenAt& at) {
  const auto begin_of = [&](std::int64_t symbol) {
    const auto frames = symbol == 0 ? 0 : static_cast<double>(speech.ends[static_cast<std::size_t>(symbol - 1)]);
    return std::clamp(at.start + at.frame * frames, at.from, at.until);
  };
  const auto count = std::ssize(speech.text.symbols);
  sentences.push_back({sentence, at.from, at.until});
  for (const auto& word : speech.text.words)
    if (word.end > word.first) words.push_back({word.text, begin_of(word.first), begin_of(word.end)});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto symbol = speech.text.symbols[static_cast<std::size_t>(i)];
    if (symbol != TextFrontEnd::kSilence && symbol != TextFrontEnd::kGap)
      symbols.push_back({symbols_by_number.at(static_cast<std::size_t>(symbol)), begin_of(i), begin_of(i + 1)});
  }
}

std::string times_json(const SpeechTimes& times) {
  const nlohmann::ordered_json json{
      {"sentences", json_of(times.sentences)}, {"words", json_of(times.words)}, {"symbols", json_of(times.symbols)}};
  return json.dump(1) + "\n";
}

std::string times_srt(const SpeechTimes& times) {
  std::string text;
  for (std::size_t i = 0; i < times.words.size(); ++i)
    text += std::to_string(i + 1) + "\n" + srt_time(times.words[i].start) + " --> " + srt_time(times.words[i].end) +
            "\n" + times.words[i].text + "\n\n";
  return text;
}

}  // namespace tutti
