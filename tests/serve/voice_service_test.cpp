#include "serve/voice/voice_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_folder.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const std::filesystem::path kVoice = std::filesystem::path(TUTTI_SOURCE_DIR) / "models/voice";

}  // namespace

TEST(VoiceService, VoiceThatShipsHasItsSpeakersAndOpenAisNames) {
  const auto voice = VoiceService::open(kVoice).value();
  EXPECT_THAT(voice.speakers(), ElementsAre("linda", "slt"));
  for (const char* name : {"voice", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"}) EXPECT_TRUE(voice.names().contains(name));
  EXPECT_FALSE(voice.names().contains("whisper-1"));
}

TEST(VoiceService, FolderWithoutAVoiceIsRefusedWithWhatIsExpected) {
  const TempFolder folder;
  const auto nothing = VoiceService::open(folder.path());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().fault, Fault::missing);
  for (const char* config : {"{", "[]", R"({"model_type": "whisper"})", R"({"model_type": "tutti-voice", "mel": {}})",
                             R"({"model_type": "tutti-voice", "mel": {"rate": 16000}, "speakers": [1]})"}) {
    std::ofstream(folder.path() / "config.json") << config;
    const auto other = VoiceService::open(folder.path());
    ASSERT_FALSE(other) << config;
    EXPECT_EQ(other.error().fault, Fault::corrupt) << config;
  }
}

TEST(VoiceService, TextThatCannotBeReadIsRefusedBeforeAnythingRuns) {
  const auto voice = VoiceService::open(kVoice).value();
  for (const char* text : {"...", "[[qqq\u4e2d]]"}) {
    const auto spoken = voice.speak({.model = "tts-1", .text = text}, {});
    ASSERT_FALSE(spoken) << text;
    EXPECT_EQ(spoken.error().status, 400) << spoken.error().message;
    EXPECT_EQ(spoken.error().param, "input");
  }
}
