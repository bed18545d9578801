#include <gtest/gtest.h>

#include <fstream>

#include "hub/model_shape.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

bool is_keyed_with(const std::string& config) {
  const TempFolder folder;
  std::ofstream(folder / "config.json") << config;
  return is_keyed(folder.path());
}

TEST(KeyedModel, IsWhatItsConfigDeclares) {
  EXPECT_TRUE(is_keyed_with(R"({"model_type": "whisper", "tutti_vad_method": "keying"})"));
  EXPECT_FALSE(is_keyed_with(R"({"model_type": "whisper"})"));
  EXPECT_FALSE(is_keyed_with(R"({"tutti_vad_method": "silero"})"));
  EXPECT_FALSE(is_keyed_with(R"({"tutti_vad_method": 1})"));
  EXPECT_FALSE(is_keyed_with("[1]"));
  EXPECT_FALSE(is_keyed_with("{"));
  EXPECT_TRUE(is_keyed(TUTTI_SOURCE_DIR "/models/morse"));
}

TEST(KeyedModel, TakesTheToneAloneWhereItsConfigDeclaresIt) {
  const auto takes = [](const std::string& config) {
    const TempFolder folder;
    std::ofstream(folder / "config.json") << config;
    return takes_keyed_tone(folder.path());
  };
  EXPECT_TRUE(takes(R"({"tutti_audio_filter": "keyed_tone"})"));
  EXPECT_FALSE(takes(R"({"tutti_audio_filter": "other"})"));
  EXPECT_FALSE(takes(R"({"tutti_vad_method": "keying"})"));
  EXPECT_FALSE(takes_keyed_tone({}));
  EXPECT_TRUE(takes_keyed_tone(TUTTI_SOURCE_DIR "/models/morse"));
}

TEST(KeyedModel, WithoutAConfigItIsNone) {
  const TempFolder folder;
  EXPECT_FALSE(is_keyed(folder.path()));
  EXPECT_FALSE(is_keyed(folder / "missing"));
  EXPECT_FALSE(is_keyed({}));
  EXPECT_FALSE(is_keyed(TUTTI_SOURCE_DIR "/models/nano")) << "it reads digits, too";
}

}  // namespace
}  // namespace tutti
