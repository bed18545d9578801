#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "support/test_data.h"
#include "text/generated_text.h"
#include "transcript/like_python.h"
#include "transcript/long_form.h"
#include "transcript/transcript.h"

namespace tutti {

// Scenarios in which openai-whisper's own transcribe() was run over a scripted model (tools/golden/long_form.py and
// words.py), and that model again.

using Json = nlohmann::json;

inline const Tokenizer& tokenizer(const std::string& vocabulary) {
  const auto load = [](const char* file, std::int32_t n_vocab) {
    return Tokenizer::load(test_data() / ("tokenizer/" + std::string(file)), n_vocab).value();
  };
  static const std::map<std::string, Tokenizer> loaded{{"english", load("gpt2.tiktoken", 51864)},
                                                       {"multilingual", load("multilingual.tiktoken", 51865)},
                                                       {"large-v3", load("multilingual.tiktoken", 51866)}};
  return loaded.at(vocabulary);
}

inline unsigned long sum_of(const std::string& text) {
  return ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

inline std::string joined(const std::vector<std::int32_t>& tokens) {
  std::string line;
  for (const std::int32_t token : tokens) line += (line.empty() ? "" : " ") + std::to_string(token);
  return line;
}

/// As `alignment` in tools/golden/words.py.
inline AlignAnswer drawn_alignment(std::uint64_t seed, std::size_t count, std::int64_t frames) {
  static const std::vector<std::vector<std::int32_t>> kSteps{
      {0, 5, 10, 15, 20, 30}, {0, 1, 2, 3}, {0, 10, 20, 150, 300}, {10, 20, 40}};
  static constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 3> kMoods{{{0, 256}, {200, 57}, {0, 48}}};
  static const std::vector<std::int32_t> kFirst{0, 0, 0, 50, 120, 400};
  Lcg lcg(seed);
  const auto& steps = kSteps[lcg.pick(4)];
  const auto [least, range] = kMoods[lcg.pick(3)];
  std::int32_t at = kFirst[lcg.pick(6)];
  const auto limit = std::max(static_cast<std::int32_t>(frames / 2) - 1, 0);
  AlignAnswer made{.starts = {std::min(at, limit)}};
  for (std::size_t i = 0; i < count; ++i) {
    at += steps[lcg.pick(static_cast<std::uint32_t>(steps.size()))];
    made.starts.push_back(std::min(at, limit));
    made.probabilities.push_back(static_cast<float>(least + lcg.pick(range)) / 256);
  }
  return made;
}

/// Gives the answers of one scenario in turn and records the requests, as the golden script does.
class ScriptedDecoder : public WindowDecoder {
 public:
  ScriptedDecoder(const Json& golden, const Json& scenario, const SpecialTokens& special)
      : golden_(golden), scenario_(scenario), special_(special) {}

  Result<std::string> detect_language(WindowSpan window) override {
    note("language " + std::to_string(window.seek) + " " + std::to_string(window.frames));
    return scenario_["heard"].get<std::string>();
  }

  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override {
    std::string line = "decode " + std::to_string(window.seek) + " " + std::to_string(window.frames) + " " +
                       float_text(request.temperature) + " " + std::to_string(request.max_tokens) + " " +
                       std::to_string(request.sot_index) + " [";
    note(line + joined(request.prompt) + "]");
    if (given_ == scenario_["answers"].size()) return fail(Fault::internal, "one request more than the reference made");
    const Json& answer = golden_["answers"][scenario_["answers"][given_++].get<std::size_t>()];
    return DecodeAnswer{.tokens = real_tokens(answer[0]), .avg_logprob = answer[1], .no_speech_prob = answer[2]};
  }

  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    note("align " + std::to_string(window.seek) + " " + std::to_string(window.frames) + " [" +
         joined(request.sot_sequence) + "] [" + joined(request.text) + "]");
    return drawn_alignment(scenario_.at("seed").get<std::uint64_t>() * 1000 + aligned_++, request.text.size(),
                           window.frames);
  }

  const std::string& requests() const { return requests_; }

 private:
  void note(const std::string& line) { requests_ += (requests_.empty() ? "" : "\n") + line; }

  /// Timestamps and special tokens are numbered below zero in the file, whatever the vocabulary.
  std::vector<std::int32_t> real_tokens(const Json& tokens) const {
    std::vector<std::int32_t> real;
    for (const std::int32_t token : tokens)
      real.push_back(token >= 0         ? token
                     : token <= -10'000 ? special_.eot - 10'000 - token
                                        : special_.timestamp_begin - 1 - token);
    return real;
  }

  const Json& golden_;
  const Json& scenario_;
  const SpecialTokens& special_;
  std::size_t given_ = 0;
  std::uint64_t aligned_ = 0;
  std::string requests_;
};

inline std::optional<double> threshold(const Json& requested, const char* name, std::optional<double> fallback) {
  if (!requested.contains(name)) return fallback;
  return requested[name].is_null() ? std::nullopt : std::optional(requested[name].get<double>());
}

inline WordRules word_rules_from(const Json& requested) {
  WordRules rules;
  rules.prepend_punctuations = requested.value("prepend_punctuations", rules.prepend_punctuations);
  rules.append_punctuations = requested.value("append_punctuations", rules.append_punctuations);
  rules.hallucination_silence_threshold = threshold(requested, "hallucination_silence_threshold", std::nullopt);
  return rules;
}

inline LongFormOptions options_from(const Json& golden, const Json& requested) {
  LongFormOptions options;
  if (requested.contains("language")) options.language = requested["language"].get<std::string>();
  options.translate = requested.contains("task");
  options.temperatures = requested.value("temperature", options.temperatures);
  options.compression_ratio_threshold = threshold(requested, "compression_ratio_threshold", 2.4);
  options.logprob_threshold = threshold(requested, "logprob_threshold", -1.0);
  options.no_speech_threshold = threshold(requested, "no_speech_threshold", 0.6);
  options.condition_on_previous_text = requested.value("condition_on_previous_text", true);
  if (requested.contains("initial_prompt"))
    options.initial_prompt = golden["prompts"][requested["initial_prompt"].get<std::size_t>()];
  options.carry_initial_prompt = requested.value("carry_initial_prompt", false);
  options.clip_timestamps = requested.value("clip_timestamps", options.clip_timestamps);
  options.without_timestamps = requested.value("without_timestamps", false);
  options.prefix = requested.value("prefix", "");
  if (requested.contains("word_timestamps")) options.words = word_rules_from(requested);
  if (requested.contains("sample_len")) options.sample_len = requested["sample_len"].get<std::int32_t>();
  return options;
}

/// Runs every scenario of `golden` and compares the requests and the result.
inline void expect_every_scenario(const Json& golden, std::size_t least) {
  std::size_t number = 0;
  for (const Json& scenario : golden["scenarios"]) {
    SCOPED_TRACE("scenario " + std::to_string(number++) + " (tools/golden, --show)");
    const Tokenizer& words = tokenizer(scenario["vocabulary"]);
    ScriptedDecoder decoder(golden, scenario, words.special());
    const auto transcript =
        transcribe_long_form({.content_frames = scenario["frames"], .n_text_ctx = scenario["n_text_ctx"]}, words,
                             options_from(golden, scenario["options"]), decoder, {});
    ASSERT_TRUE(transcript) << transcript.error().text() << "\n" << decoder.requests();
    const std::string result = transcript_json(*transcript);
    if (scenario.contains("in_clear")) {
      ASSERT_EQ(decoder.requests(), scenario["in_clear"][0].get<std::string>());
      ASSERT_EQ(result, scenario["in_clear"][1].get<std::string>());
    }
    ASSERT_EQ(sum_of(decoder.requests()), scenario["requests"].get<unsigned long>()) << decoder.requests();
    ASSERT_EQ(sum_of(result), scenario["result"].get<unsigned long>()) << result;
  }
  EXPECT_GE(number, least);
}

}  // namespace tutti
