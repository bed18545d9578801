#include "serve/openai/speech_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "hub/speaker_weights.h"
#include "serve/openai/json_body.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

auto read(Fields fields, bool translate = false) {
  fields.emplace_back("model", "whisper-1");
  SpeechOptions usual;
  usual.decoding.beam_size = 5;
  return read_speech_form(fields, usual, translate);
}

std::string param_of(const Fields& fields) {
  const auto form = read(fields);
  return form ? "(taken)" : form.error().param;
}

}  // namespace

TEST(SpeechForm, NothingButTheModelIsTheUsualTranscription) {
  const auto form = read({}).value();
  EXPECT_EQ(form.model, "whisper-1");
  EXPECT_EQ(form.format, SpeechFormat::json);
  EXPECT_FALSE(form.stream);
  EXPECT_EQ(form.options.decoding.beam_size, 5);
  EXPECT_EQ(form.options.long_form.temperatures.size(), 6U);
  EXPECT_FALSE(form.options.vad);
  EXPECT_FALSE(form.options.long_form.words);
}

TEST(SpeechForm, EveryFieldReachesItsOption) {
  const auto form = read({{"language", "German"},
                          {"prompt", "Names: Ada."},
                          {"response_format", "verbose_json"},
                          {"temperature", "0.4"},
                          {"timestamp_granularities[]", "word"},
                          {"timestamp_granularities[]", "segment"},
                          {"stream", "true"},
                          {"keywords[]", "Ada"},
                          {"keywords[]", "Babbage"},
                          {"beam_size", "3"},
                          {"without_timestamps", "True"},
                          {"seed", "7"},
                          {"top_k", "5"}})
                        .value();
  EXPECT_EQ(form.options.long_form.language, "de");
  EXPECT_EQ(form.options.long_form.initial_prompt, "Names: Ada.");
  EXPECT_EQ(form.options.long_form.temperatures.front(), 0.4);
  EXPECT_EQ(form.options.long_form.hot_words, "Ada, Babbage");
  EXPECT_TRUE(form.options.long_form.words);
  EXPECT_TRUE(form.words && form.segments && form.stream);
  EXPECT_EQ(form.options.decoding.beam_size, 3);
  EXPECT_FALSE(form.options.decoding.timestamps);
  EXPECT_EQ(form.options.decoding.seed, 7U);
  EXPECT_THAT(form.ignored, ElementsAre("top_k"));
}

TEST(SpeechForm, LogprobsAreDecodedOnlyWhereIncluded) {
  const auto plain = read({}).value();
  EXPECT_FALSE(plain.logprobs || plain.options.decoding.token_logprobs);
  const auto form = read({{"include[]", "logprobs"}, {"stream", "true"}}).value();
  EXPECT_TRUE(form.logprobs && form.options.decoding.token_logprobs);
}

TEST(SpeechForm, WordTimesAloneLeaveTheSegmentsOut) {
  const auto form = read({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "word"}}).value();
  EXPECT_TRUE(form.words);
  EXPECT_FALSE(form.segments);
}

TEST(SpeechForm, ChunkingStrategyIsTheDetectionOfSpeech) {
  EXPECT_TRUE(read({{"chunking_strategy", "auto"}}).value().options.vad);
  EXPECT_TRUE(read({{"vad_filter", "true"}}).value().options.vad);
  const auto json =
      read({{"chunking_strategy", R"({"type":"server_vad","threshold":0.4,"silence_duration_ms":300})"}}).value();
  EXPECT_EQ(json.options.vad.value().threshold, 0.4);
  EXPECT_EQ(json.options.vad.value().min_silence_duration_ms, 300);
  const auto brackets =
      read({{"chunking_strategy[type]", "server_vad"}, {"chunking_strategy[prefix_padding_ms]", "90"}});
  EXPECT_EQ(brackets.value().options.vad.value().speech_pad_ms, 90);
}

TEST(SpeechForm, TranslationIsRequestedByTheAddress) {
  EXPECT_TRUE(read({}, true).value().options.long_form.translate);
}

TEST(SpeechForm, WhatCannotBeIntendedIsRefusedByItsField) {
  EXPECT_EQ(param_of({{"language", "klingon"}}), "language");
  EXPECT_EQ(param_of({{"temperature", "1.5"}}), "temperature");
  EXPECT_EQ(read({{"temperature", "1.5"}}).error().message, "temperature: expected a number from 0 to 1, found '1.5'");
  EXPECT_EQ(param_of({{"temperature", "warm"}}), "temperature");
  EXPECT_EQ(param_of({{"response_format", "yaml"}}), "response_format");
  EXPECT_EQ(param_of({{"timestamp_granularities[]", "word"}}), "timestamp_granularities");
  EXPECT_EQ(param_of({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "x"}}),
            "timestamp_granularities");
  EXPECT_EQ(param_of({{"stream", "perhaps"}}), "stream");
  EXPECT_EQ(param_of({{"stream", "true"}, {"response_format", "srt"}}), "stream");
  EXPECT_EQ(param_of({{"include[]", "everything"}}), "include");
  EXPECT_EQ(param_of({{"include[]", "logprobs"}, {"response_format", "verbose_json"}}), "include");
  EXPECT_EQ(param_of({{"chunking_strategy", "fast"}}), "chunking_strategy");
  EXPECT_EQ(param_of({{"beam_size", "0"}}), "beam_size");
  EXPECT_EQ(param_of({{"prompt", "\xff\xfe"}}), "prompt");
  EXPECT_EQ(param_of({{"languages[]", "en"}, {"languages[]", "de"}}), "languages");
  EXPECT_EQ(param_of({{"known_speaker_names[]", "Ada"}}), "known_speaker_names");
}

TEST(SpeechForm, DiarizedJsonFindsSpeakersAndTimesWords) {
  if (const auto weights = find_speaker_weights(); !weights) {
    const auto form = read({{"response_format", "diarized_json"}});
    ASSERT_FALSE(form);
    EXPECT_EQ(form.error().status, 501);
    EXPECT_THAT(form.error().message, HasSubstr("fetch_speakers.py"));
    GTEST_SKIP() << "another download: " << weights.error().what;
  }
  const auto form = read({{"response_format", "diarized_json"},
                          {"known_speaker_names[]", "Ada"},
                          {"known_speaker_references[]", "data:audio/wav;base64,UklGRg=="}});
  ASSERT_TRUE(form) << form.error().message;
  ASSERT_TRUE(form->options.diarize);
  ASSERT_EQ(form->options.diarize->known.size(), 1U);
  EXPECT_EQ(form->options.diarize->known.front().name, "Ada");
  EXPECT_EQ(read_file(form->options.diarize->known.front().clip).value(), "RIFF");
  EXPECT_TRUE(form->options.long_form.words);
  EXPECT_EQ(param_of({{"response_format", "diarized_json"},
                      {"known_speaker_names[]", "B2"},
                      {"known_speaker_references[]", "data:audio/wav;base64,UklGRg=="}}),
            "known_speaker_names")
      << "a speaker without a name may be called so";
}

TEST(SpeechForm, ModelNamedDiarizeMeansDiarizedJson) {
  if (const auto weights = find_speaker_weights(); !weights)
    GTEST_SKIP() << "another download: " << weights.error().what;
  const auto form = read_speech_form({{"model", "gpt-4o-transcribe-diarize"}}, {}, false);
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_EQ(form->model, "gpt-4o-transcribe");
  EXPECT_EQ(form->format, SpeechFormat::diarized_json);
}

TEST(SpeechForm, SpeakersWithoutClipsOrAsUnreadableClipsAreRefused) {
  EXPECT_EQ(param_of({{"response_format", "diarized_json"}, {"known_speaker_names[]", "Ada"}}), "known_speaker_names");
  EXPECT_EQ(param_of({{"known_speaker_references[]", "data:audio/wav;base64,%%"}}), "known_speaker_references");
}

TEST(SpeechForm, MissingModelIsRefused) {
  const auto form = read_speech_form({}, {}, false);
  ASSERT_FALSE(form);
  EXPECT_EQ(form.error().param, "model");
}

TEST(SpeechForm, EmptyFieldIsAsIfItWereAbsent) {
  const auto form = read({{"response_format", ""}, {"temperature", " "}, {"beam_size", ""}, {"language", ""}}).value();
  EXPECT_EQ(form.format, SpeechFormat::json);
  EXPECT_EQ(form.options.decoding.beam_size, 5);
  EXPECT_EQ(read_speech_form({{"model", ""}}, {}, false).error().param, "model");
}

TEST(SpeechForm, ListMayComeAsJsonAndNotByNumber) {
  const auto form =
      read({{"response_format", "verbose_json"}, {"timestamp_granularities", "[\"word\", \"segment\"]"}}).value();
  EXPECT_TRUE(form.words && form.segments);
  EXPECT_EQ(param_of({{"timestamp_granularities[]", "[0]"}}), "timestamp_granularities");
  EXPECT_EQ(param_of({{"timestamp_granularities[0]", "word"}}), "timestamp_granularities[0]");
}

TEST(SpeechForm, SegmentsOfJsonAreTaken) {
  EXPECT_EQ(param_of({{"timestamp_granularities[]", "segment"}}), "(taken)");
  EXPECT_EQ(param_of({{"timestamp_granularities[]", "word"}}), "timestamp_granularities");
}

TEST(JsonBody, UnpairedSurrogateIsNamedWithItsMember) {
  const auto wrong = read_json_object(R"({"model": "tts-1", "input": "half \ud83d of it"})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().param, "input");
  EXPECT_THAT(wrong.error().message, HasSubstr("unpaired surrogate"));
  EXPECT_EQ(read_json_object(R"({"input": "\ud83d\ude00"})").value()["input"], "\xf0\x9f\x98\x80");
  EXPECT_FALSE(read_json_object("[1]"));
  EXPECT_FALSE(read_json_object("{"));
}
