#include "serve/openai/speech_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

Transcript two_segments() {
  Transcript transcript{.text = " One two. Three.", .segments = {}, .language = "en"};
  transcript.segments = {{.id = 0,
                          .start = 0,
                          .end = 2,
                          .text = " One two.",
                          .tokens = {1, 2},
                          .words = {{" One", 0, 1}, {" two.", 1, 2}}},
                         {.id = 1,
                          .seek = 200,
                          .start = 2,
                          .end = 3.5,
                          .text = " Three.",
                          .no_speech_prob = std::numeric_limits<double>::quiet_NaN(),
                          .words = {{" Three.", 2, 3.5}}}};
  transcript.segments[0].text_tokens = {{" One", -0.5}, {" two.", -0.25}};
  transcript.segments[1].text_tokens = {{" Three.", -1}, {"\xc3\xbe\xe3", -2}};
  return transcript;
}

nlohmann::json body_of(const SpeechForm& form) {
  return nlohmann::json::parse(speech_answer(two_segments(), {.duration = Seconds(4)}, form).value().body);
}

std::vector<nlohmann::json> events_in(const std::string& text) {
  std::vector<nlohmann::json> events;
  std::size_t at = 0;
  while (text.compare(at, 6, "data: ") == 0) {
    const auto end = text.find("\n\n", at);
    events.push_back(nlohmann::json::parse(text.substr(at + 6, end - at - 6)));
    at = end + 2;
  }
  EXPECT_EQ(at, text.size());
  return events;
}

}  // namespace

TEST(SpeechAnswer, JsonHasTheTextAndTheBegunSeconds) {
  const auto json = body_of({});
  EXPECT_EQ(json["text"], "One two. Three.");
  EXPECT_EQ(json["usage"], nlohmann::json({{"type", "duration"}, {"seconds", 4}}));
}

TEST(SpeechAnswer, JsonHasLogprobsOfTokensOnlyWhereIncluded) {
  EXPECT_FALSE(body_of({}).contains("logprobs"));
  SpeechForm form;
  form.logprobs = true;
  const auto logprobs = body_of(form)["logprobs"];
  ASSERT_EQ(logprobs.size(), 4U);
  EXPECT_EQ(logprobs[0], nlohmann::json({{"token", " One"}, {"logprob", -0.5}, {"bytes", {32, 79, 110, 101}}}));
  EXPECT_EQ(logprobs[3]["token"], "\u00fe\ufffd") << "the second byte is a part of a character";
  EXPECT_EQ(logprobs[3]["bytes"], nlohmann::json({0xc3, 0xbe, 0xe3}));
}

TEST(SpeechAnswer, VerboseJsonHasSegmentsAndAFractionalDuration) {
  SpeechForm form;
  form.format = SpeechFormat::verbose_json;
  const auto answer = speech_answer(two_segments(), {.duration = Seconds(4)}, form).value();
  EXPECT_THAT(answer.body, HasSubstr("\"duration\":4.0,"));
  const auto json = nlohmann::json::parse(answer.body);
  EXPECT_EQ(json["language"], "english");
  EXPECT_EQ(json["task"], "transcribe");
  ASSERT_EQ(json["segments"].size(), 2U);
  EXPECT_EQ(json["segments"][1]["seek"], 200);
  EXPECT_EQ(json["segments"][1]["no_speech_prob"], 0.0);
  EXPECT_FALSE(json.contains("words"));
}

TEST(SpeechAnswer, WordsAloneComeWithoutSegments) {
  SpeechForm form;
  form.format = SpeechFormat::verbose_json;
  form.segments = false;
  form.words = true;
  const auto json = body_of(form);
  EXPECT_FALSE(json.contains("segments"));
  EXPECT_EQ(json["words"][1], nlohmann::json({{"word", "two."}, {"start", 1.0}, {"end", 2.0}}));
}

TEST(SpeechAnswer, SubtitlesAreThoseOfTheWriters) {
  SpeechForm form;
  form.format = SpeechFormat::srt;
  EXPECT_THAT(speech_answer(two_segments(), {.duration = Seconds(4)}, form).value().body,
              HasSubstr("2\n00:00:02,000 --> 00:00:03,500\nThree.\n"));
  form.format = SpeechFormat::vtt;
  EXPECT_THAT(speech_answer(two_segments(), {.duration = Seconds(4)}, form).value().body, HasSubstr("WEBVTT\n"));
}

TEST(SpeechAnswer, MissingAudioIsNamedInJsonAndInAHeader) {
  const AudioFacts damaged{.duration = Seconds(4), .losses = {"the last 7 s", "caf\xc3\xa9\n"}, .notes = {"track 2"}};
  SpeechForm form;
  const auto answer = speech_answer(two_segments(), damaged, form).value();
  EXPECT_EQ(nlohmann::json::parse(answer.body)["losses"], nlohmann::json(damaged.losses));
  EXPECT_EQ(nlohmann::json::parse(answer.body)["notes"], nlohmann::json(damaged.notes));
  form.format = SpeechFormat::srt;
  EXPECT_THAT(speech_answer(two_segments(), damaged, form).value().headers,
              testing::Contains(testing::Pair("x-tutti-losses", "the last 7 s; caf")));
  EXPECT_THAT(SpeechEvents(form).done(two_segments(), damaged), HasSubstr("the last 7 s"));
}

TEST(SpeechAnswer, WholeAudioHasNoMembersOrHeadersOfLosses) {
  EXPECT_FALSE(body_of({}).contains("losses"));
  EXPECT_TRUE(speech_answer(two_segments(), {.duration = Seconds(4)}, {}).value().headers.empty());
}

TEST(SpeechEvents, DeltasTogetherAreTheWholeText) {
  const SpeechForm form;
  SpeechEvents events(form);
  const Transcript transcript = two_segments();
  std::string text = events.delta({transcript.segments[0]});
  text += events.delta({});
  text += events.done(transcript, {.duration = Seconds(4)});  // the second segment was never reported
  const auto all = events_in(text);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["type"], "transcript.text.delta");
  EXPECT_EQ(all[0]["delta"].get<std::string>() + all[1]["delta"].get<std::string>(), "One two. Three.");
  EXPECT_EQ(all[2]["type"], "transcript.text.done");
  EXPECT_EQ(all[2]["text"], "One two. Three.");
  EXPECT_EQ(all[2]["usage"]["seconds"], 4);
}

TEST(SpeechEvents, LogprobsOfTheDeltasTogetherAreThoseOfTheText) {
  SpeechForm form;
  form.logprobs = true;
  SpeechEvents events(form);
  const Transcript transcript = two_segments();
  std::string text = events.delta({transcript.segments[0]});
  text += events.done(transcript, {.duration = Seconds(4)});  // the second segment was never reported
  const auto all = events_in(text);
  ASSERT_EQ(all.size(), 3U);
  auto together = all[0]["logprobs"];
  together.insert(together.end(), all[1]["logprobs"].begin(), all[1]["logprobs"].end());
  EXPECT_EQ(together, body_of(form)["logprobs"]);
  EXPECT_EQ(all[2]["logprobs"], together);
}

TEST(SpeechEvents, LogprobsAreAbsentWhereNotIncluded) {
  const SpeechForm form;
  SpeechEvents events(form);
  const Transcript transcript = two_segments();
  for (const auto& event :
       events_in(events.delta({transcript.segments[0]}) + events.done(transcript, {.duration = Seconds(4)})))
    EXPECT_FALSE(event.contains("logprobs")) << event["type"];
}
