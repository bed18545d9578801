#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/process/exit_code.h"
#include "cli/commands.h"
#include "support/temp_folder.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A WAV file of so many seconds of silence.
void put_wav(const fs::path& path, std::uint32_t seconds) {
  fs::create_directories(path.parent_path());
  const std::uint32_t bytes = seconds * 16'000;
  const auto word = [](std::uint32_t value) {
    std::string text;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::ofstream(path, std::ios::binary) << "RIFF" << word(36 + bytes) << "WAVEfmt " << word(16) << word(0x00010001)
                                        << word(8000) << word(16'000) << word(0x00100002) << "data" << word(bytes)
                                        << std::string(bytes, '\0');
}

TEST(ManifestCommand, WrittenManifestListsOldestFirstWithStableIds) {
  const TempFolder folder;
  put_wav(folder / "in/new/b.wav", 3);
  put_wav(folder / "in/old/a.wav", 2);
  fs::last_write_time(folder / "in/old/a.wav", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string file = folder / "m.json";
  ASSERT_EQ(run_manifest({folder / "in", "-o", file}), kDone);
  ASSERT_EQ(run_manifest({folder / "in", "-o", folder / "again.json"}), kDone);

  std::vector<Input> found;
  const InputSink sink{[&](Input&& input) { return found.push_back(std::move(input)), true; }, [](Error&&) { FAIL(); }};
  ASSERT_TRUE(read_inputs({file}, {.audio_root = folder / "in"}, sink));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].file, folder / "in/old/a.wav");
  EXPECT_EQ(found[0].below, "old/a.wav");
  EXPECT_EQ(found[0].entry.duration, Seconds(2));
  EXPECT_EQ(found[1].entry.name, "b");
  const auto id = nlohmann::json::parse(read_file(folder / "again.json").value())["assets"][1]["id"];
  EXPECT_EQ(id, found[0].entry.id);
}

TEST(ManifestCommand, RecordingsOfTwoFoldersGetUniqueIdsAndAreFound) {
  const TempFolder folder;
  put_wav(folder / "2020/talk.wav", 3);
  put_wav(folder / "2021/talk.wav", 2);
  const std::string file = folder / "m.json";
  ASSERT_EQ(run_manifest({folder / "2020", folder / "2021", "-o", file}), kDone);

  std::set<std::string> files, ids;
  const InputSink sink{[&](Input&& input) {
                         files.insert(input.file.string());
                         ids.insert(input.entry.id);
                         return true;
                       },
                       [](Error&&) { FAIL(); }};
  ASSERT_TRUE(read_inputs({file}, {}, sink));
  EXPECT_THAT(files, testing::ElementsAre((folder / "2020/talk.wav").string(), (folder / "2021/talk.wav").string()));
  EXPECT_EQ(ids.size(), 2U);
}

TEST(ManifestCommand, TableIdsAndNamesAreKept) {
  const TempFolder folder;
  put_wav(folder / "a.wav", 1);
  put_wav(folder / "b.wav", 1);
  ASSERT_TRUE(write_file_atomically(folder / "t.csv", "path,id,name\na.wav,talk-7,On tides\nb.wav,,\n"));
  ASSERT_EQ(run_manifest({folder / "t.csv", "-o", folder / "m.json"}), kDone);
  const auto manifest = nlohmann::json::parse(read_file(folder / "m.json").value());
  std::map<std::string, std::string> names;
  for (const auto& asset : manifest["assets"]) names[asset["id"]] = asset["name"];
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names["talk-7"], "On tides");
  names.erase("talk-7");
  EXPECT_EQ(names.begin()->second, "b") << "of the file, and an id made up";
}

TEST(ManifestCommand, MissingFileIsReportedAndOthersAreWritten) {
  const TempFolder folder;
  put_wav(folder / "a.wav", 1);
  EXPECT_EQ(run_manifest({folder / "a.wav", folder / "b.wav", "-o", folder / "m.json"}), kSomeFailed);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder / "m.json").value())["count"], 1);
}

TEST(ManifestCommand, ExistingManifestStaysIfNoRecordingIsFound) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "not mounted");
  const std::string file = folder / "m.json";
  const std::string earlier = R"({"format": "tutti-manifest", "count": 0})";
  ASSERT_TRUE(write_file_atomically(file, earlier));
  EXPECT_EQ(run_manifest({folder / "not mounted", "-o", file}), kNothingRan);
  EXPECT_EQ(read_file(file), earlier);
}

TEST(ManifestCommand, ANameThatIsNotUtf8IsEscapedAndReadBack) {
  const TempFolder folder;
  put_wav(folder / "in/caf\xE9.wav", 1);
  ASSERT_EQ(run_manifest({folder / "in", "-o", folder / "m.json"}), kDone);
  const std::string text = read_file(folder / "m.json").value();
  EXPECT_THAT(text, testing::HasSubstr("\"file_name\": \"caf\\udce9.wav\""));
  std::vector<std::filesystem::path> found;
  const InputSink sink{[&](Input&& input) { return found.push_back(input.file), true; }, [](Error&&) { FAIL(); }};
  ASSERT_TRUE(read_inputs({folder / "m.json"}, {.audio_root = folder / "in"}, sink));
  EXPECT_THAT(found, testing::ElementsAre(folder / "in/caf\xE9.wav"));
}

TEST(ManifestCommand, AllFilesTakesFilesOfAnyName) {
  const TempFolder folder;
  put_wav(folder / "in/a.wav", 1);
  put_wav(folder / "in/take1", 1);
  ASSERT_EQ(run_manifest({folder / "in", "-o", folder / "m.json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder / "m.json").value())["count"], 1);
  ASSERT_EQ(run_manifest({folder / "in", "--all-files", "-o", folder / "m.json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder / "m.json").value())["count"], 2);
}

TEST(ManifestCommand, ItWantsOneSource) {
  EXPECT_EQ(run_manifest({}), kUsage);
  EXPECT_EQ(run_manifest({"--sqlite", "a.db"}), kUsage);
  EXPECT_EQ(run_manifest({"folder", "--query", "SELECT 1"}), kUsage);
}

}  // namespace
}  // namespace tutti
