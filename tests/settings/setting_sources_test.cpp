#include "settings/setting_sources.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

const std::vector<std::string> kCommands{"transcribe", "pull", "batch"};

}  // namespace

TEST(SettingsFile, ASectionIsReadWithItsTypes) {
  const auto section = settings_section(
      "[transcribe]\nmodel = \"tiny.en\"\nthreads = 2\ntemperature = 0.5\ncarry-initial-prompt = true\n"
      "clip-timestamps = [0, 1.5]\n[pull]\n",
      "config.toml", "transcribe", kCommands);
  ASSERT_TRUE(section) << section.error().text();
  EXPECT_EQ(*section, (std::map<std::string, std::string>{{"model", "tiny.en"},
                                                          {"threads", "2"},
                                                          {"temperature", "0.5"},
                                                          {"carry-initial-prompt", "True"},
                                                          {"clip-timestamps", "0,1.5"}}));
}

TEST(SettingsFile, AnUnknownSectionNamesTheNearestRightOne) {
  const auto section = settings_section("[transcribed]\n", "config.toml", "transcribe", kCommands);
  ASSERT_FALSE(section);
  EXPECT_NE(section.error().text().find("Did you mean [transcribe]?"), std::string::npos) << section.error().text();
}

TEST(SettingsFile, ValueInsteadOfSectionIsAnErrorThatNamesIt) {
  for (const char* command : {"transcribe", "pull"}) {
    const auto section = settings_section("transcribe = 3\n", "config.toml", command, kCommands);
    ASSERT_FALSE(section);
    EXPECT_NE(section.error().text().find("config.toml: 'transcribe'"), std::string::npos) << section.error().text();
  }
}

TEST(SettingsFile, SettingOutsideSectionErrorNamesItsSection) {
  const auto section = settings_section("model = \"tiny.en\"\n", "config.toml", "transcribe", kCommands);
  ASSERT_FALSE(section);
  EXPECT_NE(section.error().text().find("write [transcribe]"), std::string::npos) << section.error().text();
}

TEST(SettingsFile, ASlipInTheFileIsShownWithItsLine) {
  const auto section = settings_section("[transcribe]\nmodel = \n", "config.toml", "transcribe", kCommands);
  ASSERT_FALSE(section);
  EXPECT_NE(section.error().text().find("config.toml:2"), std::string::npos) << section.error().text();
}

TEST(SettingsFile, AValueThatNoFlagCouldHaveIsNotTakenForAnEmptyOne) {
  const std::vector<std::pair<std::string, std::string>> wrong{{"initial-prompt = 2026-11-23", "a date or time"},
                                                               {"model = { name = \"tiny\" }", "a table"},
                                                               {"clip-timestamps = [[0, 1]]", "a list of something"}};
  for (const auto& [line, found] : wrong) {
    const auto section = settings_section("[transcribe]\n" + line + "\n", "config.toml", "transcribe", kCommands);
    ASSERT_FALSE(section) << line;
    const std::string output = section.error().text();
    EXPECT_NE(output.find("config.toml:2: " + line.substr(0, line.find(' '))), std::string::npos) << output;
    EXPECT_NE(output.find("found " + found), std::string::npos) << output;
  }
}
