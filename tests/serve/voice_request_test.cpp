#include "serve/voice/voice_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "serve/voice/voice_endpoint.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const std::vector<std::string> kSpeakers{"jackson", "theo"};

auto read(const nlohmann::json& members) {
  nlohmann::json body{{"model", "tts-1"}, {"input", "Hello."}, {"voice", "alloy"}};
  body.update(members);
  return read_voice_request(body.dump(), kSpeakers);
}

std::string param_of(const nlohmann::json& members) {
  const auto request = read(members);
  return request ? "(taken)" : request.error().param;
}

}  // namespace

TEST(VoiceRequest, RequiredMembersAloneGiveMp3OfTheFirstSpeaker) {
  const auto request = read(nlohmann::json::object()).value();
  EXPECT_EQ(request.text, "Hello.");
  EXPECT_EQ(request.speaker, "");
  EXPECT_EQ(request.format, SpokenFormat::mp3);
  EXPECT_EQ(request.rate, 1);
  EXPECT_TRUE(request.ignored.empty());
}

TEST(VoiceRequest, EveryMemberReachesItsOption) {
  const auto request =
      read({{"voice", "theo"}, {"response_format", "pcm"}, {"speed", 1.5}, {"instructions", "cheerful"}}).value();
  EXPECT_EQ(request.speaker, "theo");
  EXPECT_EQ(request.format, SpokenFormat::pcm);
  EXPECT_EQ(request.rate, 1.5);
  EXPECT_THAT(request.ignored, ElementsAre("instructions"));
  EXPECT_EQ(read({{"voice", {{"id", "theo"}}}}).value().speaker, "theo");
}

TEST(VoiceRequest, WhatCannotBeSpokenIsRefusedByItsMember) {
  EXPECT_EQ(param_of({{"input", nullptr}}), "input");
  EXPECT_EQ(param_of({{"input", 5}}), "input");
  EXPECT_EQ(param_of({{"input", std::string(4097, 'a')}}), "input");
  EXPECT_EQ(param_of({{"input", std::string(4096, 'a')}}), "(taken)");
  EXPECT_EQ(param_of({{"model", nullptr}}), "model");
  EXPECT_EQ(param_of({{"voice", nullptr}}), "voice");
  EXPECT_EQ(param_of({{"voice", "george"}}), "voice");
  EXPECT_EQ(param_of({{"response_format", "ogg"}}), "response_format");
  EXPECT_EQ(param_of({{"speed", 0.1}}), "speed");
  EXPECT_EQ(param_of({{"speed", "fast"}}), "speed");
  EXPECT_EQ(param_of({{"stream_format", "pages"}}), "stream_format");
}

TEST(VoiceRequest, AacAndEventsAreTaken) {
  const auto request = read({{"response_format", "aac"}, {"stream_format", "sse"}}).value();
  EXPECT_EQ(media_type(request.format), "audio/aac");
  EXPECT_TRUE(request.events);
}

TEST(SpeechEvents, AudioComesInPiecesOfBase64ThatJoin) {
  const std::string audio(30000, 'a'), events = speech_events(audio, "H\u00e9");
  std::string encoded;
  std::size_t deltas = 0;
  for (std::size_t at = 0; (at = events.find("\"audio\":\"", at)) != std::string::npos; ++deltas) {
    at += 9;
    encoded += events.substr(at, events.find('"', at) - at);
  }
  EXPECT_EQ(deltas, 2U);
  EXPECT_EQ(encoded.size(), 40000U);
  EXPECT_EQ(encoded.substr(0, 8), "YWFhYWFh");
  EXPECT_THAT(events, HasSubstr("\"type\":\"speech.audio.done\""));
  EXPECT_THAT(events, HasSubstr("\"input_tokens\":2,"));
  EXPECT_TRUE(events.ends_with("\n\n"));
}

TEST(VoiceRequest, LengthIsCountedInCharacters) {
  std::string text;
  for (int i = 0; i < 4096; ++i) text += "\u00e9";
  EXPECT_EQ(param_of({{"input", text}}), "(taken)");
}

TEST(VoiceRequest, BodyThatIsNoObjectIsRefused) {
  for (const char* body : {"", "[]", "{", "\"text\""})
    EXPECT_EQ(read_voice_request(body, kSpeakers).error().status, 400);
}
