// The options of other programs, by their --help: openai-whisper 20250625 and whisper-ctranslate2 0.5.8.

#include "cli/drop_in/other_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/transcribe_command.h"

using namespace tutti;
using testing::HasSubstr;
using Words = std::vector<std::string>;

namespace {

struct Case {
  const char* option;
  const char* value;   // one that `whisper --help` offers
  const char* answer;  // of what Tutti does not do; nullptr: it works
};

constexpr Case kCommon[] = {
    {"model", "tiny.en", nullptr},
    {"model_dir", "models", nullptr},
    {"output_dir", "out", nullptr},
    {"output_format", "srt", nullptr},
    {"verbose", "False", nullptr},
    {"task", "translate", nullptr},
    {"language", "German", nullptr},
    {"temperature", "0.2", nullptr},
    {"best_of", "None", nullptr},
    {"beam_size", "3", nullptr},
    {"patience", "1.5", nullptr},
    {"length_penalty", "0.5", nullptr},
    {"suppress_tokens", "-1,5", nullptr},
    {"initial_prompt", "Names: Anna", nullptr},
    {"condition_on_previous_text", "False", nullptr},
    {"temperature_increment_on_fallback", "None", nullptr},
    {"compression_ratio_threshold", "2.0", nullptr},
    {"logprob_threshold", "-0.5", nullptr},
    {"no_speech_threshold", "0.5", nullptr},
    {"word_timestamps", "True", nullptr},
    {"prepend_punctuations", "([", nullptr},
    {"append_punctuations", ".,", nullptr},
    {"highlight_words", "True", nullptr},
    {"max_line_width", "42", nullptr},
    {"max_line_count", "2", nullptr},
    {"max_words_per_line", "None", nullptr},
    {"threads", "2", nullptr},
    {"hallucination_silence_threshold", "2.0", nullptr},
};
constexpr Case kOpenAi[] = {
    {"device", "cpu", nullptr},
    {"carry_initial_prompt", "True", nullptr},
    {"fp16", "False", nullptr},
    {"clip_timestamps", "0,5", nullptr},
};
constexpr Case kCtranslate2[] = {
    {"model_directory", "folder", nullptr},
    {"local_files_only", "True", nullptr},
    {"pretty_json", "True", "json.tool"},
    {"print_colors", "True", "tutti review"},
    {"device", "auto", nullptr},
    {"device_index", "1", nullptr},
    {"compute_type", "int8_float32", nullptr},
    {"prompt_reset_on_temperature", "0.7", "above 0.5"},
    {"prefix", "Well", nullptr},
    {"suppress_blank", "False", "blank"},
    {"repetition_penalty", "1.2", "--compression_ratio_threshold"},
    {"no_repeat_ngram_size", "3", "--compression_ratio_threshold"},
    {"hotwords", "Anna", nullptr},
    {"batched", "True", nullptr},
    {"batch_size", "8", nullptr},
    {"multilingual", "True", "one language"},
    {"vad_filter", "True", nullptr},
    {"vad_threshold", "0.6", nullptr},
    {"vad_min_speech_duration_ms", "100", nullptr},
    {"vad_max_speech_duration_s", "20", nullptr},
    {"vad_min_silence_duration_ms", "500", nullptr},
    {"hf_token", "hf_x", nullptr},
    {"speaker_name", "Voice", "tutti review"},
    {"speaker_num", "3", nullptr},
    {"live_transcribe", "True", "tutti listen"},
    {"live_volume_threshold", "0.3", "tutti listen"},
    {"live_input_device", "2", "tutti listen"},
    {"live_input_device_sample_rate", "48000", "tutti listen"},
};

const OtherProgram& program_named(const std::string& name) {
  return *std::ranges::find(other_programs(), name, &OtherProgram::name);
}

/// Whether `tutti transcribe` reads these words; its complaint otherwise.
std::string reading_of(const Words& words) {
  TranscribeCommand command;
  OptionTable table("transcribe", "");
  add_transcribe(table, command);
  const auto read = table.read(words, {});
  return read ? "read" : read.error().text();
}

void expect_case(const OtherProgram& program, const Case& one) {
  SCOPED_TRACE(std::string(one.option) + " " + one.value);
  const auto words = in_our_words(program, {"talk.mp3", std::string("--") + one.option, one.value});
  if (one.answer) {
    ASSERT_FALSE(words);
    EXPECT_THAT(words.error().text(), HasSubstr(one.answer));
  } else {
    ASSERT_TRUE(words) << words.error().text();
    EXPECT_EQ(reading_of(*words), "read") << joined(*words, " ");
  }
}

Words words_of(const std::string& program, const Words& arguments) {
  return in_our_words(program_named(program), arguments).value();
}

}  // namespace

TEST(OtherProgram, EveryOptionWorksOrIsAnswered) {
  for (const auto& program : other_programs()) {
    SCOPED_TRACE(program.name);
    const std::span<const Case> own = program.name == "whisper" ? std::span<const Case>(kOpenAi) : kCtranslate2;
    for (const auto& one : kCommon) expect_case(program, one);
    for (const auto& one : own) expect_case(program, one);
    EXPECT_EQ(program.options.size(), std::size(kCommon) + own.size());
    for (const auto& option : program.options) {
      const bool is_fixed = option.becomes.empty() && option.usual != "*";  // its default is what Tutti does
      EXPECT_TRUE(!is_fixed || in_our_words(program, {"x", "--" + option.name, option.usual})) << option.name;
    }
  }
}

TEST(OtherProgram, ArgumentsAreReadAsArgparseReadsThem) {
  EXPECT_EQ(words_of("whisper", {"a.mp3", "-osubs", "--output_f", "srt", "--task=translate", "--", "-b.mp3"}),
            (Words{"--model", "turbo", "--output-dir=subs", "--output-format=srt", "--task=translate", "--", "a.mp3",
                   "-b.mp3"}));
  EXPECT_EQ(words_of("whisper", {"a", "--beam_size", "3", "--beam_size", "5"}),
            (Words{"--model", "turbo", "--beam-size=5", "--", "a"}));
  const auto error = [](const Words& words) { return in_our_words(program_named("whisper"), words).error().text(); };
  EXPECT_THAT(error({"--mode", "x", "--max_line", "3"}), HasSubstr("several options begin so"));
  EXPECT_THAT(error({"--vad_filter", "True"}), HasSubstr("--vad_filter: no such option of whisper"));
  EXPECT_THAT(error({"--model"}), HasSubstr("expected a value, found nothing"));
  const auto looped = in_our_words(program_named("whisper-ctranslate2"), {"x", "--no_repeat_ngram_size", "3"});
  EXPECT_THAT(looped.error().text(), HasSubstr("no such option. A loop is decoded again"));
}

TEST(OtherProgram, TwoOptionsThatAreOneOfOursAreSettledTogether) {
  EXPECT_EQ(words_of("whisper-ctranslate2", {"a", "--device", "cuda", "--device_index", "1", "--compute_type",
                                             "int8_bfloat16", "--model_directory", "mine", "--hf_token", "hf_x"}),
            (Words{"--model", "small", "--compute-type", "auto", "--device", "cuda:1", "--compute-type", "int8",
                   "--diarize", "True", "--num-speakers", "2", "--model=mine", "--", "a"}));
  EXPECT_EQ(words_of("whisper-ctranslate2", {"a", "--speaker_num", "3"}),
            (Words{"--model", "small", "--compute-type", "auto", "--", "a"}))
      << "without a token no speakers are looked for";
}

TEST(OtherProgram, ExitCodesAreThoseOfTheOtherProgram) {
  const auto &openai = program_named("whisper"), &other = program_named("whisper-ctranslate2");
  EXPECT_EQ(exit_code_of(openai, 3), 0);
  EXPECT_EQ(exit_code_of(openai, 4), 1);
  EXPECT_EQ(exit_code_of(openai, 2), 2);
  EXPECT_EQ(exit_code_of(openai, 130), 130);
  EXPECT_EQ(exit_code_of(other, 4), 100);
}
