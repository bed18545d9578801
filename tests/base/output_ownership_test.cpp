#include "base/output_ownership.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/new_file.h"
#include "base/sha256.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& content = "the user's") {
  ASSERT_TRUE(write_file_atomically(path, content));
}

KnownContent content_of(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return {hash.hex(), static_cast<std::int64_t>(text.size())};
}

}  // namespace

TEST(OutputOwnership, RefusesAnInputByEverySpellingOfItsPath) {
  const TempFolder folder;
  put(folder / "in/talk.wav");
  fs::create_symlink("in/talk.wav", folder / "link.json");
  fs::create_directory_symlink("in", folder / "other");
  fs::create_hard_link(folder / "in/talk.wav", folder / "twin.json");
  OutputOwnership files("Use another name");
  files.add_input(folder / "in/talk.wav");
  for (const char* name :
       {"in/talk.wav", "in/./talk.wav", "in/../in/talk.wav", "link.json", "other/talk.wav", "twin.json"}) {
    const auto refused = files.claim(folder / name, "--report");
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_NE(refused.error().what.find(std::string(name) + " is an input itself"), std::string::npos) << name;
    EXPECT_EQ(refused.error().hint, "Use another name");
    EXPECT_FALSE(files.write(folder / name, "new")) << name;
  }
  EXPECT_EQ(read_file(folder / "in/talk.wav").value(), "the user's");
  EXPECT_TRUE(files.claim(folder / "in/talk.json", "--report"));
}

TEST(OutputOwnership, RefusesAnInputThatIsNotThereYet) {
  const TempFolder folder;
  fs::create_directory(folder / "in");
  fs::create_directory_symlink("in", folder / "other");
  fs::create_symlink("in/late.wav", folder / "link");
  OutputOwnership files;
  files.add_input(folder / "in/late.wav");
  for (const char* name : {"in/late.wav", "other/late.wav", "other/../in/late.wav", "link"})
    EXPECT_FALSE(files.expect_no_input(folder / name)) << name;
  EXPECT_TRUE(files.expect_no_input(folder / "in/late.txt"));
}

TEST(OutputOwnership, RefusesFilesOfAnInputFolder) {
  const TempFolder folder;
  put(folder / "set/audio/a.wav");
  fs::create_hard_link(folder / "set/audio/a.wav", folder / "twin.html");
  fs::create_symlink("set/audio/a.wav", folder / "link.html");
  OutputOwnership files;
  files.add_input(folder / "set");
  for (const char* name : {"set/audio/a.wav", "twin.html", "link.html"})
    EXPECT_FALSE(files.expect_no_input(folder / name)) << name;
  EXPECT_TRUE(files.expect_no_input(folder / "set/report.html")) << "it replaces nothing";
}

TEST(OutputOwnership, RefusesToReplaceAFolderWithAnInputInIt) {
  const TempFolder folder;
  put(folder / "w/model/config.json");
  const auto is_free = [&](const fs::path& input, const fs::path& replaced) {
    OutputOwnership files;
    files.add_input(input);
    return files.expect_no_input_in(replaced).has_value();
  };
  EXPECT_FALSE(is_free(folder / "w/model", folder / "w/model"));
  EXPECT_FALSE(is_free(folder / "w/model/config.json", folder / "w/model"));
  EXPECT_FALSE(is_free(folder / "w/model/late.wav", folder / "w/model"));
  EXPECT_FALSE(is_free(folder / "w/model", folder / "w/../w"));
  EXPECT_TRUE(is_free(folder / "w", folder / "w/trained/model"));
  EXPECT_TRUE(is_free(folder / "w/model", folder / "x/model"));
}

TEST(OutputOwnership, RefusesAFileThatTwoOwnersWouldWrite) {
  const TempFolder folder;
  fs::create_directory_symlink(".", folder / "here");
  OutputOwnership files;
  ASSERT_TRUE(files.claim(folder / "talk.json", "the transcripts"));
  const auto second = files.claim(folder / "here/talk.json", "--report");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("by the transcripts and by --report"), std::string::npos) << second.error().what;
  EXPECT_FALSE(files.claim(folder / "./here/./talk.json", "--report"));
  EXPECT_TRUE(files.claim("/dev/null", "--report"));
  EXPECT_TRUE(files.claim("/dev/null", "--picture"));
}

TEST(OutputOwnership, ReportsWhetherAFileWasReplaced) {
  const TempFolder folder;
  const OutputOwnership files;
  EXPECT_FALSE(files.write(folder / "a.txt", "first").value());
  EXPECT_TRUE(files.write(folder / "a.txt", "second").value());
  EXPECT_EQ(read_file(folder / "a.txt").value(), "second");
}

TEST(OutputOwnership, ReplacesALinkAndNotWhatItLeadsTo) {
  const TempFolder folder;
  put(folder / "outside/mine.txt", "mine");
  fs::create_symlink("outside/mine.txt", folder / "a.txt");
  fs::create_symlink("outside/new.txt", folder / "b.txt");
  const OutputOwnership files;
  EXPECT_TRUE(files.write(folder / "a.txt", "text").value());
  EXPECT_TRUE(files.write(folder / "b.txt", "text").value());
  for (const char* name : {"a.txt", "b.txt"}) {
    EXPECT_FALSE(fs::is_symlink(folder / name)) << name;
    EXPECT_EQ(read_file(folder / name).value(), "text");
  }
  EXPECT_EQ(read_file(folder / "outside/mine.txt").value(), "mine");
  EXPECT_FALSE(fs::exists(folder / "outside/new.txt"));
}

TEST(OutputOwnership, ANamedFileReplacesOnlyAnEmptyOneOrOneOfItsKind) {
  const TempFolder folder;
  const auto claim = [](const fs::path& path) { return OutputOwnership().claim_marked(path, "--svg", "of-a-kind"); };
  EXPECT_TRUE(claim(folder / "new.svg"));
  EXPECT_TRUE(claim("/dev/null"));
  put(folder / "empty.svg", "");
  EXPECT_TRUE(claim(folder / "empty.svg"));
  put(folder / "own.svg", "<!-- of-a-kind --><svg/>");
  EXPECT_TRUE(claim(folder / "own.svg"));
  put(folder / "mine.svg", "<svg/>" + std::string(600, ' ') + "of-a-kind");
  fs::create_symlink("mine.svg", folder / "link.svg");
  fs::create_symlink("nowhere", folder / "lost.svg");
  for (const char* name : {"mine.svg", "link.svg", "lost.svg"}) {
    const auto claimed = claim(folder / name);
    ASSERT_FALSE(claimed) << name;
    EXPECT_EQ(claimed.error().fault, Fault::usage) << name;
  }
}

TEST(OutputOwnership, AFileThatCameAfterTheClaimIsKept) {
  const TempFolder folder;
  OutputOwnership files;
  ASSERT_TRUE(files.claim_marked(folder / "a.json", "--report", "of-a-kind"));
  put(folder / "a.json", "mine");
  EXPECT_FALSE(files.write(folder / "a.json", "of-a-kind"));
  EXPECT_EQ(read_file(folder / "a.json").value(), "mine");
  fs::remove(folder / "a.json");
  EXPECT_TRUE(files.write(folder / "a.json", "of-a-kind"));
  EXPECT_TRUE(files.write(folder / "a.json", "of-a-kind, again"));
}

TEST(OutputOwnership, KnowsAFileByItsContentAlone) {
  const TempFolder folder;
  const std::vector<KnownContent> known{content_of("first"), content_of("other")};
  EXPECT_EQ(occupant_of(folder / "a.txt", known), Occupant::none);
  put(folder / "a.txt", "first");
  EXPECT_EQ(occupant_of(folder / "a.txt", known), Occupant::known);
  EXPECT_EQ(occupant_of(folder / "a.txt", {}), Occupant::other);
  put(folder / "a.txt", "firsT");
  EXPECT_EQ(occupant_of(folder / "a.txt", known), Occupant::other) << "of the same length";
  fs::create_symlink("nowhere", folder / "link.txt");
  EXPECT_EQ(occupant_of(folder / "link.txt", known), Occupant::other);
  EXPECT_EQ(occupant_of(folder.path(), known), Occupant::other);
}

TEST(OutputOwnership, AlternativeNameKeepsExtensionAndLengthLimit) {
  EXPECT_EQ(name_beside("out/talk.srt", 1), "out/talk.new.srt");
  EXPECT_EQ(name_beside("out/talk.mp3.srt", 2), "out/talk.mp3.new2.srt");
  const auto longest = name_beside("out/" + std::string(251, 'a') + ".srt", 1);
  EXPECT_EQ(longest.filename().native().size(), 255U);
  EXPECT_TRUE(longest.native().ends_with("a.new.srt"));
  std::string umlauts;
  for (int i = 0; i < 125; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(name_beside(umlauts + ".srt", 1), umlauts.substr(0, 246) + ".new.srt") << "whole characters";
}

TEST(OutputOwnership, ANameWithANulNeverReachesTheFileSystem) {
  const TempFolder folder;
  put(folder / "a.wav");
  const fs::path name = (folder / "a.wav").string() + std::string("\0.txt", 5);
  EXPECT_EQ(write_file_atomically(name, "text").error().fault, Fault::usage);
  EXPECT_EQ(read_file(name).error().fault, Fault::usage);
  EXPECT_EQ(read_regular_file(name).error().fault, Fault::usage);
  EXPECT_FALSE(OutputOwnership().write(name, "text"));
  EXPECT_NE(expect_no_nul(name).error().what.find("a.wav\\0.txt"), std::string::npos);
  EXPECT_EQ(read_file(folder / "a.wav").value(), "the user's");
}

TEST(OutputOwnership, ARenameReplacesNothingWhereANameIsTaken) {
  const TempFolder folder;
  put(folder / "new", "new");
  put(folder / "taken", "old");
  EXPECT_EQ(rename_if_free(folder / "new", folder / "taken"), std::errc::file_exists);
  EXPECT_EQ(read_file(folder / "taken").value(), "old");
  EXPECT_FALSE(rename_if_free(folder / "new", folder / "free"));
  EXPECT_EQ(read_file(folder / "free").value(), "new");
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EQ(rename_if_free(folder / "gone", folder / "other"), std::errc::no_such_file_or_directory);
}
