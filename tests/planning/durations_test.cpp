#include "planning/durations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace {

class PlanDurations : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return folder_ / name;
  }
  Durations read(const std::vector<std::string>& inputs, const InputOptions& options = {}) const {
    auto found = read_durations(inputs, options);
    EXPECT_TRUE(found) << found.error().text();
    return found.value_or(Durations{});
  }

  TempFolder folder_;
};

TEST(PlainLengths, AreAListOrAWorkload) {
  EXPECT_THAT(**plain_lengths("[60, 2.5, \"7.5\"]", "a.json"), ElementsAre(60, 2.5, 7.5));
  EXPECT_THAT(**plain_lengths(R"({"about": "x", "durations_s": [7]})", "a.json"), ElementsAre(7));
  for (const char* text : {"", "7", "{}", "[]", "[1", R"(["a.mp3"])", R"({"assets": [{"asset_type": "Audio"}]})"})
    EXPECT_FALSE(plain_lengths(text, "a.json").value()) << text;
}

TEST(PlainLengths, InvalidLengthIsNamedByItsIndex) {
  for (const char* text : {"[1, -2]", "[1, \"x\"]", "[1, null]", R"({"durations_s": [1, 1e99]})"}) {
    const auto read = plain_lengths(text, "a.json");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().what, HasSubstr("[1]"));
  }
}

TEST_F(PlanDurations, ManifestDurationsCoverOnlyAssetsThatABatchTakes) {
  const auto found = read({file("m.json", R"({"count": 6, "assets": [
      {"name": "a.mp3", "asset_type": "Audio", "media_duration_seconds": "61.5"},
      {"name": "b.png", "asset_type": "Image", "media_duration_seconds": 1},
      {"name": "c.mp3", "asset_type": "Audio", "folder_path": "Resources/To Be Sorted", "duration": 2},
      {"name": "d.mp3", "asset_type": "Audio", "duration": 3, "deleted_at": "2026-01-01"},
      {"name": "e.mp3", "asset_type": "Audio", "duration": 30},
      {"name": "f.mp3", "duration_seconds": 4}]})")});
  EXPECT_THAT(found.seconds, UnorderedElementsAre(61.5, 30, 4));
  EXPECT_EQ(found.left_out(), "");
}

TEST_F(PlanDurations, ComeFromTablesFoldersAndHeadersAsABatchsDo) {
  std::filesystem::create_directories(folder_ / "talks");
  write_tone(folder_ / "talks/tone.wav", 3, 440);
  const auto table = file("list.csv", "path,duration\na.mp3,10\ntalks/tone.wav,\n");
  const auto lines = file("list.jsonl", "{\"path\": \"b.mp3\", \"audio_seconds\": 20}\n");
  EXPECT_THAT(read({table, lines, folder_ / "talks"}).seconds, UnorderedElementsAre(10, 3, 20))
      << "a file that is named twice counts once";
  EXPECT_THAT(read({file("plain.json", "[5]"), lines}).seconds, UnorderedElementsAre(5, 20));
  EXPECT_TRUE(read({file("plain.json", "[5]")}).plain);
  EXPECT_FALSE(read({file("plain.json", "[5]"), lines}).plain) << "of recordings part may be silence";
  EXPECT_THAT(read({file("from-a-pipe", R"({"assets": [{"name": "a.mp3", "duration": 8}]})")}).seconds, ElementsAre(8));
}

TEST_F(PlanDurations, UnknownDurationsAreCountedAndOthersPlanned) {
  const auto list = file("m.json", R"([{"path": "none.mp3"}, {"path": "a.mp3", "duration": 9}, {"path": "long.mp3",
      "duration": 1e12}])");
  const auto found = read({list});
  EXPECT_THAT(found.seconds, ElementsAre(9));
  EXPECT_EQ(found.unknown, 2U);
  EXPECT_THAT(found.left_out(), HasSubstr("2 of 3 recordings are left out"));
  EXPECT_THAT(found.left_out(), HasSubstr("none.mp3"));
}

TEST_F(PlanDurations, WithoutAnyKnownLengthThereIsNothingToPlan) {
  const auto unknown = read_durations({file("m.json", R"([{"path": "none.mp3"}])")}, {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().what, HasSubstr("1 of 1 recording is left out"));
  for (const char* text : {"", "7", "{}", "[]", "[1", R"({"assets": [{"asset_type": "Audio"}]})"})
    EXPECT_FALSE(read_durations({file("bad.json", text)}, {})) << text;
  EXPECT_FALSE(read_durations({folder_ / "nowhere.json"}, {}));
}

}  // namespace
