#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "support/test_data.h"
#include "transcript/fallback.h"
#include "transcript/like_python.h"
#include "transcript/long_form.h"
#include "transcript/transcript_json.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// What openai-whisper's own transcribe() did with scripted answers (tools/golden/long_form.py).
const Json& golden() {
  static const Json made = Json::parse(read_file(TUTTI_SOURCE_DIR "/tests/data/transcript/long_form.json").value());
  return made;
}

const Tokenizer& tokenizer(const std::string& vocabulary) {
  const auto load = [](const char* file, std::int32_t n_vocab) {
    return Tokenizer::load(test_data() / "tokenizer" / file, n_vocab).value();
  };
  static const std::map<std::string, Tokenizer> loaded{{"english", load("gpt2.tiktoken", 51864)},
                                                       {"multilingual", load("multilingual.tiktoken", 51865)},
                                                       {"large-v3", load("multilingual.tiktoken", 51866)}};
  return loaded.at(vocabulary);
}

unsigned long sum_of(const std::string& text) {
  return ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

/// Gives the answers of one scenario in turn and writes down what was asked, as the golden script does.
class ScriptedDecoder : public WindowDecoder {
 public:
  ScriptedDecoder(const Json& scenario, const SpecialTokens& special) : scenario_(scenario), special_(special) {}

  Result<std::string> detect_language(WindowSpan window) override {
    note("language " + std::to_string(window.seek) + " " + std::to_string(window.frames));
    return scenario_["heard"].get<std::string>();
  }

  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override {
    std::string line = "decode " + std::to_string(window.seek) + " " + std::to_string(window.frames) + " " +
                       float_text(request.temperature) + " " + std::to_string(request.max_tokens) + " " +
                       std::to_string(request.sot_index) + " [";
    for (const std::int32_t token : request.prompt) line += std::to_string(token) + " ";
    line.back() = ']';
    note(line);
    if (given_ == scenario_["answers"].size()) return fail(Fault::internal, "one request more than the reference made");
    const Json& answer = golden()["answers"][scenario_["answers"][given_++].get<std::size_t>()];
    return DecodeAnswer{.tokens = real_tokens(answer[0]), .avg_logprob = answer[1], .no_speech_prob = answer[2]};
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

  const Json& scenario_;
  const SpecialTokens& special_;
  std::size_t given_ = 0;
  std::string requests_;
};

std::optional<double> threshold(const Json& asked, const char* name, std::optional<double> fallback) {
  if (!asked.contains(name)) return fallback;
  return asked[name].is_null() ? std::nullopt : std::optional(asked[name].get<double>());
}

LongFormOptions options_from(const Json& asked) {
  LongFormOptions options;
  if (asked.contains("language")) options.language = asked["language"].get<std::string>();
  options.translate = asked.contains("task");
  options.temperatures = asked.value("temperature", options.temperatures);
  options.compression_ratio_threshold = threshold(asked, "compression_ratio_threshold", 2.4);
  options.logprob_threshold = threshold(asked, "logprob_threshold", -1.0);
  options.no_speech_threshold = threshold(asked, "no_speech_threshold", 0.6);
  options.condition_on_previous_text = asked.value("condition_on_previous_text", true);
  if (asked.contains("initial_prompt"))
    options.initial_prompt = golden()["prompts"][asked["initial_prompt"].get<std::size_t>()];
  options.carry_initial_prompt = asked.value("carry_initial_prompt", false);
  options.clip_timestamps = asked.value("clip_timestamps", options.clip_timestamps);
  options.without_timestamps = asked.value("without_timestamps", false);
  if (asked.contains("sample_len")) options.sample_len = asked["sample_len"].get<std::int32_t>();
  return options;
}

}  // namespace

TEST(LongForm, AsksAndAnswersAsTheReferenceInEveryScenario) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  std::size_t number = 0;
  for (const Json& scenario : golden()["scenarios"]) {
    SCOPED_TRACE("scenario " + std::to_string(number++) + " (tools/golden/long_form.py --show)");
    const Tokenizer& words = tokenizer(scenario["vocabulary"]);
    ScriptedDecoder decoder(scenario, words.special());
    const auto transcript =
        transcribe_long_form({.content_frames = scenario["frames"], .n_text_ctx = scenario["n_text_ctx"]}, words,
                             options_from(scenario["options"]), decoder, {});
    ASSERT_TRUE(transcript) << transcript.error().text() << "\n" << decoder.requests();
    const std::string result = transcript_json(*transcript);
    if (scenario.contains("in_clear")) {
      ASSERT_EQ(decoder.requests(), scenario["in_clear"][0].get<std::string>());
      ASSERT_EQ(result, scenario["in_clear"][1].get<std::string>());
    }
    ASSERT_EQ(sum_of(decoder.requests()), scenario["requests"].get<unsigned long>()) << decoder.requests();
    ASSERT_EQ(sum_of(result), scenario["result"].get<unsigned long>()) << result;
  }
  EXPECT_GE(number, 400U);
}

TEST(Fallback, StepsThroughTheTemperaturesOfTheReferencesCommandLine) {
  for (const Json& row : golden()["temperatures"]) {
    std::string text;
    const auto made = fallback_temperatures(row[0], row[1].get<double>()).value();
    for (const double temperature : made) text += (text.empty() ? "[" : ", ") + float_text(temperature);
    EXPECT_EQ(text + "]", row[2].get<std::string>());
  }
}
