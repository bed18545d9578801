#include <gtest/gtest.h>

#include "cli/transcribe_command.h"

using namespace tutti;

namespace {

Result<RunOptions> options_of(const std::vector<std::string>& arguments) {
  TranscribeCommand command;
  OptionTable table("transcribe", "Test.");
  add_transcribe(table, command);
  if (const auto wish = table.read(arguments, {}); !wish) return tl::unexpected(wish.error());
  return run_options(command, "/models/tiny");
}

}  // namespace

TEST(TranscribeOptions, TheDefaultsAreTheReferences) {
  const auto options = options_of({"a.wav"});
  ASSERT_TRUE(options) << options.error().text();
  const LongFormOptions reference;
  ASSERT_EQ(options->long_form.temperatures.size(), reference.temperatures.size());
  for (std::size_t i = 0; i < reference.temperatures.size(); ++i)
    EXPECT_NEAR(options->long_form.temperatures[i], reference.temperatures[i], 1e-12);
  EXPECT_EQ(options->long_form.compression_ratio_threshold, reference.compression_ratio_threshold);
  EXPECT_EQ(options->long_form.language, std::nullopt);
  EXPECT_EQ(options->decoding.best_of, 5);
  EXPECT_EQ(options->compute_type, "auto");
}

TEST(TranscribeOptions, EveryDecodingFlagReachesTheRun) {
  const auto options = options_of({"a.wav",     "--language",
                                   "German",    "--task",
                                   "translate", "--temperature",
                                   "0.4",       "--temperature-increment-on-fallback",
                                   "None",      "--best-of",
                                   "None",      "--seed",
                                   "7",         "--suppress-tokens",
                                   "-1,220",    "--initial-prompt",
                                   "Tutti",     "--carry-initial-prompt",
                                   "True",      "--condition-on-previous-text",
                                   "False",     "--compression-ratio-threshold",
                                   "None",      "--logprob-threshold",
                                   "-0.5",      "--no-speech-threshold",
                                   "0.9",       "--clip-timestamps",
                                   "1.5,3",     "--without-timestamps",
                                   "--fp16",    "False"});
  ASSERT_TRUE(options) << options.error().text();
  const LongFormOptions& rules = options->long_form;
  EXPECT_EQ(rules.language, "de");
  EXPECT_TRUE(rules.translate);
  EXPECT_EQ(rules.temperatures, std::vector<double>{0.4});
  EXPECT_EQ(rules.initial_prompt, "Tutti");
  EXPECT_TRUE(rules.carry_initial_prompt);
  EXPECT_FALSE(rules.condition_on_previous_text);
  EXPECT_EQ(rules.compression_ratio_threshold, std::nullopt);
  EXPECT_EQ(rules.logprob_threshold, -0.5);
  EXPECT_EQ(rules.no_speech_threshold, 0.9);
  EXPECT_EQ(rules.clip_timestamps, (std::vector<double>{1.5, 3}));
  EXPECT_TRUE(rules.without_timestamps);
  EXPECT_EQ(options->decoding.best_of, 1);
  EXPECT_EQ(options->decoding.seed, 7U);
  EXPECT_EQ(options->decoding.suppress_tokens, (std::vector<std::int32_t>{-1, 220}));
  EXPECT_FALSE(options->decoding.timestamps);
  EXPECT_EQ(options->compute_type, "float32");
}

TEST(TranscribeOptions, WhatCannotBeMeantIsNamed) {
  const auto what = [](const std::vector<std::string>& arguments) {
    const auto options = options_of(arguments);
    return options ? std::string() : options.error().text();
  };
  EXPECT_NE(what({"a.wav", "--language", "Klingon"}).find("Klingon"), std::string::npos);
  EXPECT_NE(what({"a.wav", "--threads", "-2"}).find("--threads"), std::string::npos);
  EXPECT_NE(what({"a.wav", "--best-of", "0"}).find("--best-of"), std::string::npos);
  EXPECT_NE(what({"a.wav", "--temperature-increment-on-fallback", "0"}).find("--temperature"), std::string::npos);
}
