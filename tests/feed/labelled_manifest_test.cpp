// Lists of labelled files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "feed/labelled/labelled_files.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

/// Reads `text` as a list of that name.
Result<LabelledFiles> read(const TempFolder& folder, const std::string& name, const std::string& text) {
  EXPECT_TRUE(write_file_atomically(folder / name, text));
  return find_labelled_files(folder / name);
}

}  // namespace

TEST(LabelledManifest, TableNamesFilesLabelsGroupsAndParts) {
  const TempFolder folder;
  const auto found =
      read(folder, "list.csv",
           "Path,Label,speaker,split\nb.wav,dog,theo,train\n\"a, 1.wav\",cat,,\n/far/c.wav,dog,ann,TEST\n");
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->files.size(), 3);
  const auto& far = found->files[0];
  EXPECT_EQ(far.path, "/far/c.wav");
  EXPECT_EQ(far.part, SetPart::testing);
  const auto& quoted = found->files[1];
  EXPECT_EQ(quoted.path, folder / "a, 1.wav");
  EXPECT_EQ(quoted.label, "cat");
  EXPECT_EQ(quoted.group, "");
  EXPECT_EQ(quoted.part, SetPart::none);
  EXPECT_EQ(found->files[2].group, "theo");
  EXPECT_EQ(found->files[2].part, SetPart::training);
}

TEST(LabelledManifest, NumbersAreLabelsOfJsonLines) {
  const TempFolder folder;
  const auto found =
      read(folder, "list.jsonl", "{\"audio\": \"a.wav\", \"label\": 3}\n\n{\"file\":\"b.wav\",\"class\":\"x\"}\n");
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->files.size(), 2);
  EXPECT_EQ(found->files[0].label, "3");
  EXPECT_EQ(found->files[1].label, "x");
}

TEST(LabelledManifest, NamesWithANulAreRefusedWithTheirLine) {
  const TempFolder folder;
  const auto of_json =
      read(folder, "a.jsonl", "{\"path\":\"a.wav\",\"label\":1}\n{\"path\":\"b.wav\\u0000.mp3\",\"label\":2}\n");
  ASSERT_FALSE(of_json);
  EXPECT_THAT(of_json.error().what,
              HasSubstr("a.jsonl:2: 'b.wav\\0.mp3': expected a name of a file, found a NUL in it"));
  const auto of_table = read(folder, "b.csv", std::string("path,label\nc.wav\0d,dog\n", 24));
  ASSERT_FALSE(of_table);
  EXPECT_THAT(of_table.error().what, HasSubstr("NUL"));
}

TEST(LabelledManifest, ByteOrderMarksAreNoPartOfTheFirstName) {
  const TempFolder folder;
  const auto found = read(folder, "utf8.csv", "\xEF\xBB\xBFpath,label\na.wav,dog\n");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->files.at(0).label, "dog");
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("path,label\nb.wav,cat\n")) wide += {c, '\0'};
  const auto of_utf16 = read(folder, "utf16.csv", wide);
  ASSERT_TRUE(of_utf16) << of_utf16.error().text();
  EXPECT_EQ(of_utf16->files.at(0).label, "cat");
}

TEST(LabelledManifest, PathsBeginAtTheRootThatIsNamed) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "list.tsv", "filename\tcategory\na.wav\tdog\n"));
  const auto found = find_labelled_files(folder / "list.tsv", folder / "audio");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->files.at(0).path, folder / "audio/a.wav");
  const auto of_folder = find_labelled_files(folder.path(), folder / "audio");
  ASSERT_FALSE(of_folder);
  EXPECT_EQ(of_folder.error().fault, Fault::usage);
}

TEST(LabelledManifest, WrongRecordsAreNamedWithTheirLine) {
  const TempFolder folder;
  const auto error = [&](const std::string& name, const std::string& text) {
    const auto found = read(folder, name, text);
    return found ? "no error" : found.error().text();
  };
  EXPECT_THAT(error("a.csv", "path,label\na.wav,dog\nb.wav,\n"), HasSubstr("a.csv:3: expected a label"));
  EXPECT_THAT(error("b.csv", "name,label\na.wav,dog\n"), HasSubstr("b.csv: its header names no audio column"));
  EXPECT_THAT(error("b.csv", "path,name\na.wav,dog\n"), HasSubstr("b.csv: its header names no label column"));
  EXPECT_THAT(error("b.csv", "path,label\n,dog\n"), HasSubstr("b.csv:2: its line names no audio file"));
  EXPECT_THAT(error("c.csv", "path,label,split\na.wav,dog,tarin\n"), HasSubstr("found 'tarin'"));
  EXPECT_THAT(error("d.jsonl", "{\"path\":\"a.wav\",\"label\":\"dog\"}\n[1]\n"),
              HasSubstr("d.jsonl:2: its line is no JSON object"));
  EXPECT_THAT(error("e.csv", "path,label\na.wav,dog\na.wav,cat\n"), HasSubstr("names a.wav twice"));
  EXPECT_THAT(error("f.csv", "path,label\n"), HasSubstr("names no labelled file"));
}

TEST(LabelledFolder, EndingsThatAreNoAudioAreCounted) {
  const TempFolder folder;
  for (const char* file : {"A/1.wav", "A/a.TXT", "A/deep/b.txt", "B/2.wav", "B/noending", "list.md"})
    ASSERT_TRUE(write_file_atomically(folder / file, "audio"));
  const auto found = find_labelled_files(folder.path());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->others, 4);
  EXPECT_EQ(found->other_endings, (std::map<std::string, std::int64_t>{{"", 1}, {".md", 1}, {".txt", 2}}));
}

TEST(LabelledFolder, LinksAreFollowedButNotInCircles) {
  const TempFolder folder;
  const auto data = folder / "data";
  for (const char* file : {"data/A/1.wav", "data/B/deep/er/2.wav", "elsewhere/3.wav"})
    ASSERT_TRUE(write_file_atomically(folder / file, "audio"));
  std::filesystem::create_directory_symlink("..", data / "A/up");
  std::filesystem::create_directory_symlink("../../../B", data / "B/deep/er/round");
  std::filesystem::create_directory_symlink("/", data / "B/root");
  std::filesystem::create_directory_symlink(folder / "elsewhere", data / "A/linked");
  std::filesystem::create_directory_symlink(data / "A", folder / "elsewhere/back");
  const auto found = find_labelled_files(data);
  ASSERT_TRUE(found) << found.error().text();
  std::vector<std::string> names;
  for (const auto& file : found->files) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"A/1.wav", "A/linked/3.wav", "B/deep/er/2.wav"}));
  EXPECT_EQ(found->others, 4);
}
