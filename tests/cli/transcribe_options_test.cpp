#include <gtest/gtest.h>

#include "base/files.h"
#include "base/log.h"
#include "cli/transcribe_command.h"
#include "support/temp_folder.h"
#include "text/replacement_list.h"

using namespace tutti;

namespace {

Result<TranscribeOptions> options_of(const std::vector<std::string>& arguments) {
  TranscribeCommand command;
  OptionTable table("transcribe", "Test.");
  add_transcribe(table, command);
  if (const auto action = table.read(arguments, {}); !action) return tl::unexpected(action.error());
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
  EXPECT_EQ(options->decoding.beam_size, 5);
  EXPECT_EQ(options->decoding.patience, std::nullopt);
  EXPECT_EQ(options->decoding.length_penalty, std::nullopt);
  EXPECT_EQ(options->batch_size, 0);
  EXPECT_FALSE(options->deterministic);
  EXPECT_EQ(options->compute_type, "default");
}

TEST(TranscribeOptions, TrackAndChannelReachTheRun) {
  EXPECT_EQ(options_of({"a.wav"})->audio.track, 0);
  EXPECT_EQ(options_of({"a.wav"})->audio.channel, 0);
  const auto chosen = options_of({"a.wav", "--track", "2", "--channel=3"});
  ASSERT_TRUE(chosen) << chosen.error().text();
  EXPECT_EQ(chosen->audio.track, 2);
  EXPECT_EQ(chosen->audio.channel, 3);
  EXPECT_EQ(options_of({"a.wav", "--channel", "mix"})->audio.channel, AudioChoice::kMix);
}

TEST(TranscribeOptions, InvalidTrackOrChannelIsRefused) {
  for (const auto& [flag, value] : {std::pair("--track", "0"),
                                    {"--track", "-1"},
                                    {"--channel", "0"},
                                    {"--channel", "left"},
                                    {"--channel", "-2"},
                                    {"--channel", "1.5"}}) {
    const auto refused = options_of({"a.wav", std::string(flag) + "=" + value});
    ASSERT_FALSE(refused) << flag << value;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_NE(refused.error().what.find(flag), std::string::npos) << refused.error().what;
    EXPECT_NE(refused.error().what.find(value), std::string::npos) << refused.error().what;
  }
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
  EXPECT_EQ(options->decoding.best_of, std::nullopt);
  EXPECT_EQ(options->decoding.seed, 7U);
  EXPECT_EQ(options->decoding.suppress_tokens, (std::vector<std::int32_t>{-1, 220}));
  EXPECT_FALSE(options->decoding.timestamps);
  EXPECT_EQ(options->compute_type, "float32");
}

TEST(TranscribeOptions, EverySearchFlagReachesTheRun) {
  const auto options = options_of({"a.wav", "--beam_size", "3", "--patience", "2.5", "--length_penalty", "0.6",
                                   "--batch-size", "16", "--deterministic"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->decoding.beam_size, 3);
  EXPECT_EQ(options->decoding.patience, 2.5);
  EXPECT_EQ(options->decoding.length_penalty, 0.6);
  EXPECT_EQ(options->batch_size, 16);
  EXPECT_TRUE(options->deterministic);
  EXPECT_EQ(options_of({"a.wav", "--beam-size", "None"})->decoding.beam_size, std::nullopt);
}

TEST(TranscribeOptions, InvalidSearchOptionIsNamed) {
  const auto what = [](std::vector<std::string> arguments) {
    arguments.push_back("a.wav");
    const auto options = options_of(arguments);
    return options ? std::string() : options.error().text();
  };
  EXPECT_NE(what({"--beam-size", "0"}).find("--beam-size"), std::string::npos);
  EXPECT_NE(what({"--beam-size", "65"}).find("--beam-size"), std::string::npos);
  EXPECT_NE(what({"--beam-size", "None", "--patience", "2"}).find("--patience"), std::string::npos);
  EXPECT_NE(what({"--patience", "0"}).find("--patience"), std::string::npos);
  EXPECT_NE(what({"--beam-size", "2", "--patience", "0.25"}).find("rounds to no hypothesis"), std::string::npos);
  EXPECT_NE(what({"--length-penalty", "1.5"}).find("--length-penalty"), std::string::npos);
  EXPECT_NE(what({"--length-penalty", "-0.5"}).find("--length-penalty"), std::string::npos);
  for (const char* size : {"0", "-3", "many", "5000"}) {
    EXPECT_NE(what({"--batch-size", size}).find("--batch-size"), std::string::npos) << size;
  }
}

TEST(TranscribeOptions, InvalidThreadsOrClipTimesAreNamed) {
  const auto what = [](const std::string& flag, const std::string& value) {
    const auto options = options_of({"a.wav", flag, value});
    return options ? std::string() : options.error().text();
  };
  for (const char* threads : {"-1", "1025"})
    for (const char* flag : {"--threads", "--files-at-once"})
      EXPECT_NE(what(flag, threads).find("expected 0 to 1024"), std::string::npos) << flag << threads;
  EXPECT_NE(what("--clip-timestamps", "0,1,-2").find("found -2"), std::string::npos);
  EXPECT_NE(what("--clip-timestamps", "5,3").find("5,3"), std::string::npos);
  EXPECT_NE(what("--clip-timestamps", "1,,2").find("found '1,,2'"), std::string::npos);
  EXPECT_EQ(what("--clip-timestamps", "0 , 1.5,2"), "");  // Python takes spaces there
}

TEST(TranscribeOptions, WordTimesAreOffAndTheirRulesTheReferences) {
  EXPECT_EQ(options_of({"a.wav"})->long_form.words, std::nullopt);
  for (const auto& spelt : {std::vector<std::string>{"a.wav", "--word-timestamps"},
                            std::vector<std::string>{"--word_timestamps", "True", "a.wav"}}) {
    const auto options = options_of(spelt);
    ASSERT_TRUE(options) << options.error().text();
    EXPECT_EQ(options->long_form.words, WordRules{});
  }
  EXPECT_EQ(options_of({"a.wav", "--word_timestamps", "False"})->long_form.words, std::nullopt);
}

TEST(TranscribeOptions, EveryWordFlagReachesTheRun) {
  const auto options = options_of({"a.wav", "--word_timestamps",
                                   "True",  "--prepend_punctuations",
                                   "-(",    "--append_punctuations",
                                   ".,",    "--hallucination_silence_threshold",
                                   "2",     "--highlight_words",
                                   "True",  "--max_line_width",
                                   "40",    "--max_line_count",
                                   "2",     "--max_words_per_line",
                                   "7",     "--hotwords",
                                   "Tutti", "--prefix",
                                   "So,"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->long_form.words, (WordRules{"-(", ".,", 2.0}));
  EXPECT_EQ(options->long_form.hot_words, "Tutti");
  EXPECT_EQ(options->long_form.prefix, "So,");
  EXPECT_TRUE(options->writer.highlight_words);
  EXPECT_EQ(options->writer.max_line_width, 40);
  EXPECT_EQ(options->writer.max_line_count, 2);
  EXPECT_EQ(options->writer.max_words_per_line, 7);
}

TEST(TranscribeOptions, LayoutOfWordsWithoutWordTimesIsRefusedAsInTheReference) {
  for (const char* flag : {"--max-line-width", "--max-line-count", "--max-words-per-line"}) {
    const auto options = options_of({"a.wav", flag, "3"});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().fault, Fault::usage);
    EXPECT_EQ(options.error().what, std::string(flag) + " requires --word-timestamps");
    EXPECT_TRUE(options_of({"a.wav", flag, "0"})) << "0 is None";
    EXPECT_FALSE(options_of({"a.wav", "--word-timestamps", flag, "-1"}));
  }
  EXPECT_FALSE(options_of({"a.wav", "--highlight-words"}));
  EXPECT_FALSE(options_of({"a.wav", "--word-timestamps", "--hallucination-silence-threshold", "-1"}));
}

TEST(TranscribeOptions, FlagsWithoutEffectWarnAndTheRunContinues) {
  const auto warnings = [](const std::vector<std::string>& arguments) {
    std::string output;
    const LogSink before = set_log_sink([&](Level, std::string_view text) { output += text; });
    EXPECT_TRUE(options_of(arguments));
    set_log_sink(before);
    return output;
  };
  EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--max-line-width", "40", "--max-line-count", "2"}), "");
  EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--max-line-count", "2"}),
            "--max-line-count has no effect without --max-line-width");
  EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--max-words-per-line", "2", "--max-line-width", "9"}),
            "--max-words-per-line has no effect with --max-line-width");
  for (const std::string format : {"txt", "tsv", "json"})
    EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--max-words-per-line", "2", "-f", format}),
              "--max-words-per-line has no effect on " + format + ": it lays out srt and vtt");
  for (const std::string format : {"srt", "vtt", "all"})
    EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--highlight-words", "-f", format}), "");
  EXPECT_EQ(warnings({"a.wav", "--temperature", "0.4", "--patience", "2"}),
            "--patience has no effect above temperature 0, where nothing is searched");
  EXPECT_EQ(warnings({"a.wav", "--patience", "2"}), "");
  EXPECT_EQ(warnings({"a.wav", "--hallucination-silence-threshold", "2"}),
            "--hallucination-silence-threshold has no effect without --word-timestamps");
  EXPECT_EQ(warnings({"a.wav", "--prepend-punctuations", "("}),
            "--prepend-punctuations has no effect without --word-timestamps");
  EXPECT_EQ(warnings({"a.wav", "--append-punctuations", ")"}),
            "--append-punctuations has no effect without --word-timestamps");
  EXPECT_EQ(warnings({"a.wav", "--word-timestamps", "--append-punctuations", ")"}), "");
  EXPECT_EQ(warnings({"a.wav", "--carry-initial-prompt", "True"}),
            "--carry-initial-prompt has no effect without --initial-prompt");
  EXPECT_EQ(warnings({"a.wav", "--hotwords", "Tutti", "--prefix", "So,"}), "--hotwords has no effect with --prefix");
}

TEST(TranscribeOptions, NoThreadsAreTheDefaultAsInTheReference) {
  const auto options = options_of({"a.wav", "--threads", "None"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->threads, options_of({"a.wav"})->threads);
}

TEST(TranscribeOptions, ACoreTakesOneThread) {
  EXPECT_TRUE(options_of({"a.wav", "--device", "cpu:0", "--threads", "1"}));
  const auto options = options_of({"a.wav", "--device", "cpu:0", "--threads", "4"});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().what, "--threads 4: cpu:0 is one core, for one thread");
}

TEST(TranscribeOptions, ANameThatIsNoDeviceIsAUsageErrorWhateverThisMachineHas) {
  for (const char* name : {"gpu", "cuda:x", "cpu:-1", ""}) {
    const auto options = options_of({"a.wav", "--device", name});
    ASSERT_FALSE(options) << name;
    EXPECT_EQ(options.error().fault, Fault::usage);
    EXPECT_NE(options.error().what.find("--device"), std::string::npos) << options.error().what;
  }
  EXPECT_TRUE(options_of({"a.wav", "--device", "cuda:64"}));
}

TEST(TranscribeOptions, ATokenThatTheModelLacksIsNamedWithItsVocabularyBeforeAnyWork) {
  const auto what = [](const std::string& ids) {
    const auto options = options_of({"a.wav", "--suppress-tokens", ids});  // the model's name gives its vocabulary
    return options ? std::string() : options.error().text();
  };
  EXPECT_EQ(what("-1,51864"), "");
  EXPECT_NE(what("5,51865").find("token 51865"), std::string::npos);
  EXPECT_NE(what("5,51865").find("its vocabulary has 51865"), std::string::npos);
  EXPECT_NE(what("-2").find("found -2"), std::string::npos);
}

TEST(TranscribeOptions, LanguageIsWrittenAsGiven) {
  EXPECT_EQ(options_of({"a.wav", "--language", "German"})->writer.language, "German");
  EXPECT_EQ(options_of({"a.wav"})->writer.language, std::nullopt);
}

TEST(TranscribeOptions, AutoDetectsTheLanguage) {
  for (const char* name : {"auto", "Auto", "None"}) {
    const auto options = options_of({"a.wav", "--language", name});
    ASSERT_TRUE(options) << name;
    EXPECT_EQ(options->long_form.language, std::nullopt) << name;
    EXPECT_EQ(options->writer.language, std::nullopt) << name;
  }
}

TEST(TranscribeOptions, ALanguageTagIsItsLanguage) {
  for (const auto& [tag, code] : {std::pair("zh-CN", "zh"), {"en-US", "en"}, {"EN_us.UTF-8", "en"}, {"pt-br", "pt"}}) {
    const auto options = options_of({"a.wav", "--language", tag});
    ASSERT_TRUE(options) << tag;
    EXPECT_EQ(options->long_form.language, code) << tag;
    EXPECT_EQ(options->writer.language, code) << "other programs read codes in the JSON";
  }
  for (const char* tag : {"xx-US", "en-", "en--US", "-US", "en-toolongapart"})
    EXPECT_FALSE(options_of({"a.wav", "--language", tag})) << tag;
}

TEST(TranscribeOptions, InvalidValueIsNamed) {
  const auto what = [](const std::vector<std::string>& arguments) {
    const auto options = options_of(arguments);
    return options ? std::string() : options.error().text();
  };
  EXPECT_NE(what({"a.wav", "--language", "Klingon"}).find("Klingon"), std::string::npos);
  EXPECT_NE(what({"a.wav", "--threads", "-2"}).find("--threads"), std::string::npos);
  EXPECT_NE(what({"a.wav", "--best-of", "0"}).find("--best-of"), std::string::npos);
  EXPECT_NE(
      what({"a.wav", "--temperature-increment-on-fallback", "0"}).find("temperature_increment_on_fallback: expected"),
      std::string::npos);
  EXPECT_NE(what({"a.wav", "--temperature", "0.0001"}).find("expected 0, or a number from 0.001 to 100"),
            std::string::npos);
}

namespace {

std::filesystem::path file_with(const TempFolder& folder, const std::string& name, const std::string& content) {
  EXPECT_TRUE(write_file_atomically(folder / name, content));
  return folder / name;
}

}  // namespace

TEST(TranscribeOptions, ReplacementsAndParagraphsReachTheRun) {
  const TempFolder folder;
  const auto list = file_with(folder, "names.tsv", "jon\tJohn\n");
  const auto options = options_of({"a.wav", "--replace", list, "--paragraphs", "2.5"});
  ASSERT_TRUE(options) << options.error().text();
  ASSERT_TRUE(options->replacements);
  EXPECT_EQ(options->replacements->size(), 1u);
  EXPECT_EQ(options->writer.paragraphs, 2.5);
  EXPECT_FALSE(options_of({"a.wav"})->replacements);
  EXPECT_EQ(options_of({"a.wav"})->writer.paragraphs, std::nullopt);
}

TEST(TranscribeOptions, HotWordsOfAFileComeBehindThoseOfTheFlag) {
  const TempFolder folder;
  const auto file = file_with(folder, "words.txt", "# names\nSzymborska\n\n  Kieślowski \r\n");
  EXPECT_EQ(options_of({"a.wav", "--hotwords-file", file})->long_form.hot_words, "Szymborska, Kieślowski");
  EXPECT_EQ(options_of({"a.wav", "--hotwords-file", file, "--hotwords", "Lem"})->long_form.hot_words,
            "Lem, Szymborska, Kieślowski");
}

TEST(TranscribeOptions, WhatFollowsATranscriptIsRefusedByName) {
  const TempFolder folder;
  const auto list = file_with(folder, "names.tsv", "jon\n");
  const std::vector<std::string> wrong[] = {
      {"--replace", list},   {"--replace", folder / "none"}, {"--hotwords-file", folder / "none"},
      {"--paragraphs", "0"}, {"--paragraphs", "-1"},         {"--on-done", "cat {srt}", "-f", "json"}};
  for (const auto& flags : wrong) {
    std::vector<std::string> arguments{"a.wav"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto refused = options_of(arguments);
    ASSERT_FALSE(refused) << flags[0] << " " << flags[1];
    const std::string name = flags[0] == "--on-done" ? "on_done" : flags[0];
    EXPECT_NE(refused.error().what.find(name), std::string::npos) << refused.error().what;
  }
}
