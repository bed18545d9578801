#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// The most that a search may request: the command line refuses more by the flag's name, the decoder by the request's
// field.
inline constexpr std::int32_t kMostBeams = 64;  // or samples
inline constexpr double kMostPatience = 100;
// The bounds of a temperature that is not 0: logits divided by it stay finite, and differ from one another.
inline constexpr double kLeastTemperature = 0.001;
inline constexpr double kMostTemperature = 100;

/// openai-whisper's options for word times. Defaults are the reference's.
struct WordRules {
  std::string prepend_punctuations = "\"'“¿([{-";                // belong to the word behind them
  std::string append_punctuations = "\"'.。,，!！?？:：”)]}、";  // belong to the word before them
  /// Seconds: silence longer than this beside words that look invented is skipped, and they are dropped. None: never.
  std::optional<double> hallucination_silence_threshold{};
  bool reads_windows_once = false;  // the reference goes on where a window's last word ends: keyed sound has no such
  bool operator==(const WordRules&) const = default;
};

/// openai-whisper's transcribe options that steer the long-form loop. Defaults are the reference's.
struct LongFormOptions {
  std::optional<std::string> language{};  // code; none: detect in the first window (English-only models: "en")
  bool translate = false;
  std::vector<double> temperatures{0.0, 0.2, 0.4, 0.6, 0.8, 1.0};  // tried in order until a window passes
  std::optional<double> compression_ratio_threshold = 2.4;         // none: never a reason to retry
  std::optional<double> logprob_threshold = -1.0;
  std::optional<double> no_speech_threshold = 0.6;
  bool condition_on_previous_text = true;
  std::string initial_prompt{};  // empty: none
  bool carry_initial_prompt = false;
  std::vector<double> clip_timestamps{0};  // start, end, start, end, ... in seconds; a missing last end is the file's
  bool without_timestamps = false;
  std::optional<WordRules> words{};  // none: no word times
  std::string hot_words{};           // words that lead every prompt, before the text decoded so far; not with a prefix
  std::string prefix{};              // what every window is taken to begin with; it is not in the transcript
  std::optional<std::int32_t> sample_len{};  // tokens a window at most; none: half the text context
};

}  // namespace tutti
