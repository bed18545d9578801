#include "transcribe/inputs/inputs.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Inputs : public testing::Test {
 protected:
  fs::path put(const std::string& name, const std::string& content = "x") const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path;
  }
  /// The inputs of arguments in the test's folder, as paths in an output tree.
  std::vector<std::string> read(const std::vector<std::string>& names, InputOptions options = {}) {
    std::vector<std::string> arguments;
    for (const auto& name : names) arguments.push_back(folder_ / name);
    found_.clear();
    problems_.clear();
    const auto read = read_inputs(arguments, options,
                                  {[this](Input&& input) { return found_.push_back(std::move(input)), true; },
                                   [this](Error&& error) { problems_.push_back(error.text()); }});
    result_ = read;
    tally_ = read.value_or(InputTally{});
    std::vector<std::string> below;
    for (const auto& input : found_) below.push_back(input.below.string());
    return below;
  }

  TempFolder folder_;
  std::vector<Input> found_;
  std::vector<std::string> problems_;
  Result<ManifestTally> result_ = ManifestTally{};
  InputTally tally_{};
};

TEST_F(Inputs, AFolderGivesItsAudioAndVideoByNameAndLeavesOutTheRest) {
  for (const char* name : {"talks/b/2.MP3", "talks/b/1.webm", "talks/a.flac", "talks/notes.txt", "talks/.hidden/x.mp3",
                           "talks/.tmp.mp3", "talks/noextension"})
    put(name);
  EXPECT_THAT(read({"talks"}), ElementsAre("a.flac", "b/1.webm", "b/2.MP3"));
  EXPECT_EQ(found_[0].file, folder_ / "talks/a.flac");
  EXPECT_THAT(read({"talks/"}), ElementsAre("a.flac", "b/1.webm", "b/2.MP3"));
  EXPECT_THAT(read({"talks/b/.."}), ElementsAre("a.flac", "b/1.webm", "b/2.MP3"));
}

TEST_F(Inputs, FilesLeftOutOfFoldersAreCountedByReason) {
  for (const char* name : {"talks/a.mp3", "talks/b/c.wav", "talks/notes.txt", "talks/raw", "talks/.x.mp3",
                           "talks/.git/y", "talks/b/d.TXT"})
    put(name);
  ASSERT_EQ(::mkfifo((folder_ / "talks/pipe.mp3").c_str(), 0600), 0);
  EXPECT_THAT(read({"talks"}), ElementsAre("a.mp3", "b/c.wav"));
  const FolderTally folders = tally_.folders;
  EXPECT_EQ(folder_text(folders),
            "2 of 8 taken; 3 not audio by name (2 .txt, 1 without an ending), 2 hidden, "
            "1 pipes, sockets or devices");
  FolderTally many{.taken = 1};
  for (int i = 0; i < 7; ++i) many.other_names += many.other_endings[".e" + std::to_string(i)] = 10 + i;
  EXPECT_EQ(folder_text(many),
            "1 of 92 taken; 91 not audio by name (16 .e6, 15 .e5, 14 .e4, 13 .e3, 12 .e2, 21 others)");
  EXPECT_EQ(folder_text({.taken = 3}), "");
}

TEST_F(Inputs, AllFilesTakesFilesOfAnyNameButNoPipes) {
  for (const char* name : {"talks/a.mp3", "talks/raw", "talks/.x.mp3"}) put(name);
  ASSERT_EQ(::mkfifo((folder_ / "talks/pipe.mp3").c_str(), 0600), 0);
  EXPECT_THAT(read({"talks"}, {.all_files = true}), ElementsAre(".x.mp3", "a.mp3", "raw"));
  EXPECT_EQ(tally_.folders.special, 1);
}

TEST_F(Inputs, APatternLeavesOutPipesAndSockets) {
  put("talks/a.mp3");
  ASSERT_EQ(::mkfifo((folder_ / "talks/pipe.mp3").c_str(), 0600), 0);
  EXPECT_THAT(read({"talks/*"}), ElementsAre("a.mp3"));
  EXPECT_EQ(tally_.folders.special, 1);
}

TEST_F(Inputs, ALinkThatLeadsNowhereIsTakenAndReportedLater) {
  fs::create_directories(folder_ / "talks");
  fs::create_symlink("nowhere.mp3", folder_ / "talks/a.mp3");
  EXPECT_THAT(read({"talks"}), ElementsAre("a.mp3"));
}

TEST_F(Inputs, ANameThatIsNotUtf8IsTakenByteForByte) {
  put("talks/caf\xE9.mp3");
  EXPECT_THAT(read({"talks"}), ElementsAre("caf\xE9.mp3"));
  EXPECT_EQ(found_[0].file, folder_ / "talks/caf\xE9.mp3");
}

TEST_F(Inputs, AFolderThatLinksToItselfIsSearchedOnce) {
  put("talks/a.mp3");
  fs::create_directory_symlink(folder_ / "talks", folder_ / "talks/again");
  EXPECT_THAT(read({"talks"}), ElementsAre("a.mp3"));
}

TEST_F(Inputs, GlobsAlsoReachDown) {
  for (const char* name : {"t/1.mp3", "t/2.wav", "t/x/3.mp3", "t/x/y/4.mp3"}) put(name);
  EXPECT_THAT(read({"t/*.mp3"}), ElementsAre("1.mp3"));
  EXPECT_THAT(read({"t/**/*.mp3"}), ElementsAre("1.mp3", "x/3.mp3", "x/y/4.mp3"));
  EXPECT_THAT(read({"t/**/{1,4}.mp3"}), ElementsAre("1.mp3", "x/y/4.mp3"));
  EXPECT_THAT(read({"t/{1,2}.*"}), ElementsAre("1.mp3", "2.wav"));
  read({"t/*.ogg"});
  ASSERT_FALSE(result_);
  EXPECT_THAT(result_.error().text(), HasSubstr("expected a pattern that matches files, found none"));
}

TEST_F(Inputs, TwoStarsStandForFoldersAndNotForPartsOfNames) {
  for (const char* name : {"t/a.mp3", "t/b/a.mp3", "t/b/ba.mp3", "t/club/b.mp3", "t/x/b/c/d.mp3"}) put(name);
  EXPECT_THAT(read({"t/**/a.mp3"}), ElementsAre("a.mp3", "b/a.mp3"));
  EXPECT_THAT(read({"t/**/b/*.mp3"}), ElementsAre("b/a.mp3", "b/ba.mp3"));
  EXPECT_THAT(read({"t/**/b/**/*.mp3"}), ElementsAre("b/a.mp3", "b/ba.mp3", "x/b/c/d.mp3"));
  EXPECT_THAT(read({"t/*/**/d.mp3"}), ElementsAre("x/b/c/d.mp3"));
}

TEST_F(Inputs, PatternMatchesKeepTheirPathFromThePattern) {
  for (const char* name : {"t/2020/talk.mp3", "t/2021/talk.mp3", "t/2021/more/talk.mp3"}) put(name);
  EXPECT_THAT(read({"t/*/talk.mp3"}), ElementsAre("2020/talk.mp3", "2021/talk.mp3"));
  EXPECT_THAT(read({"t/{2020,2021}/*.mp3"}), ElementsAre("2020/talk.mp3", "2021/talk.mp3"));
  EXPECT_THAT(read({"t/202*"}), ElementsAre("2020/talk.mp3", "2021/more/talk.mp3", "2021/talk.mp3"))
      << "folders, with all below them";
  EXPECT_THAT(read({"t/2021/*.mp3"}), ElementsAre("talk.mp3"));
}

TEST_F(Inputs, AFileIsTakenWhateverItsNameAndAlsoWhenItIsMissing) {
  put("speech.dat");
  put("odd[1].mp3");
  EXPECT_THAT(read({"speech.dat", "odd[1].mp3", "missing.mp3"}),
              ElementsAre("speech.dat", "odd[1].mp3", "missing.mp3"));
}

TEST_F(Inputs, InvalidFolderIsReportedAndNotTakenForARecording) {
  read({"talks/"});
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().fault, Fault::missing);
  EXPECT_THAT(result_.error().text(), HasSubstr("talks/: the folder cannot be read: No such file or directory"));
  put("talk.mp3");
  read({"talk.mp3/"});
  ASSERT_FALSE(result_);
  EXPECT_THAT(result_.error().text(), HasSubstr("talk.mp3/: the folder cannot be read: Not a directory"));
}

TEST_F(Inputs, TrailingSlashInAListKeepsTheName) {
  put("list.txt", "t/talk.mp3/\n" + (folder_ / "t/other.mp3").string() + "/\n");
  EXPECT_THAT(read({"list.txt"}, {.audio_root = folder_.path()}), ElementsAre("t/talk.mp3", "t/other.mp3"));
  EXPECT_EQ(found_[0].file, folder_ / "t/talk.mp3");
  EXPECT_EQ(found_[1].file, folder_ / "t/other.mp3");
}

TEST_F(Inputs, ATableMeansFilesBesideItOrBelowTheAudioRoot) {
  put("lists/t.csv", "path,id\na/1.mp3,7\n/far/2.mp3,8\n../3.mp3,9\n");
  EXPECT_THAT(read({"lists/t.csv"}), ElementsAre("a/1.mp3", "far/2.mp3", "3.mp3"));
  EXPECT_EQ(found_[0].file, folder_ / "lists/a/1.mp3");
  EXPECT_EQ(found_[1].file, "/far/2.mp3");
  EXPECT_EQ(found_[2].file, folder_ / "3.mp3");
  EXPECT_EQ(found_[0].entry.id, "7");
  read({"lists/t.csv"}, {.audio_root = "/archive"});
  EXPECT_EQ(found_[0].file, "/archive/a/1.mp3");
}

TEST_F(Inputs, AbsolutePathInListIsNamedByRelativeOrWholePath) {
  const std::string here = folder_.path().string();
  const std::string there = here.substr(1) + "/t/";  // without the slash at the start
  put("list.txt", here + "/t/2020/talk.mp3\n" + here + "/t/../t/2021/talk.mp3\n");
  EXPECT_THAT(read({"list.txt"}, {.audio_root = here + "/u"}),
              ElementsAre(there + "2020/talk.mp3", there + "2021/talk.mp3"))
      << "two of one name, and neither is below the root";
  EXPECT_THAT(read({"list.txt"}, {.audio_root = here + "/t/"}), ElementsAre("2020/talk.mp3", "2021/talk.mp3"));
  EXPECT_THAT(read({"list.txt"}, {.audio_root = here + "/t/2021"}), ElementsAre(there + "2020/talk.mp3", "talk.mp3"));
  put("t/table.csv", "path\n" + here + "/t/2020/talk.mp3\n2021/talk.mp3\n");
  EXPECT_THAT(read({"t/table.csv"}), ElementsAre("2020/talk.mp3", "2021/talk.mp3")) << "both beside the table";
}

TEST_F(Inputs, AbsolutePathIsNamedAlikeFromAnyCurrentFolder) {
  const std::string file = folder_ / "t/talk.mp3";
  put("t/list.txt", file + "\n");
  put("t/table.csv", "path\n" + file + "\n");
  const fs::path stood = fs::current_path();
  for (const fs::path& here : {stood, folder_.path(), folder_ / "t"}) {
    fs::current_path(here);
    EXPECT_THAT(read({"t/list.txt"}), ElementsAre(file.substr(1))) << "from " << here;
    EXPECT_THAT(read({"t/table.csv"}), ElementsAre("talk.mp3")) << "from " << here;
  }
  found_.clear();
  const auto by_its_name = [this](Input&& input) { return found_.push_back(std::move(input)), true; };
  EXPECT_TRUE(read_inputs({"table.csv"}, {}, {by_its_name, [](Error&&) {}}));
  fs::current_path(stood);
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].below, "talk.mp3") << "a table in the current folder is in a folder, too";
}

TEST_F(Inputs, DuplicatesAreDeliveredOnceAndSkipCountsDelivered) {
  put("t/1.mp3");
  put("t/2.mp3");
  put("list.txt", (folder_ / "t/2.mp3").string() + "\n" + (folder_ / "t/3.mp3").string() + "\n");
  const fs::path root = folder_ / "t";
  EXPECT_THAT(read({"t", "t/1.mp3", "list.txt"}, {.audio_root = root}), ElementsAre("1.mp3", "2.mp3", "3.mp3"));
  EXPECT_THAT(read({"t", "list.txt"}, {.audio_root = root, .skip = 2}), ElementsAre("3.mp3"));
}

TEST_F(Inputs, BadRecordsAreProblemsAndAMissingListIsTheEnd) {
  put("t.jsonl", "{\"path\": \"1.mp3\"}\n{\"id\": 3}\n");
  EXPECT_THAT(read({"t.jsonl"}), ElementsAre("1.mp3"));
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("t.jsonl:2: expected a field 'path'")));
  read({"none.csv"});
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().fault, Fault::missing);
}

TEST_F(Inputs, AnEmptyNameIsRefused) {
  const auto refused = read_inputs({""}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::usage);
  EXPECT_THAT(refused.error().what, HasSubstr("found an empty name"));
}

TEST_F(Inputs, AnAddressIsRefusedAsAnArgumentAndAProblemInAList) {
  put("list.txt", "http://example.org/a.mp3\n/talks/b.mp3\n");
  EXPECT_THAT(read({"list.txt"}), ElementsAre("talks/b.mp3"));
  EXPECT_THAT(problems_, ElementsAre(testing::AllOf(HasSubstr("list.txt:1: 'http://example.org/a.mp3'"),
                                                    HasSubstr("must be local files"))));
  EXPECT_EQ(result_->taken, 1);
  EXPECT_EQ(result_->unusable, 1);
  for (const char* address : {"https://example.org/a.mp3?x=*", "S3://bucket/list.csv", "svn+ssh://host/a"}) {
    const auto refused = read_inputs({address}, {}, {});
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_THAT(refused.error().text(), testing::AllOf(HasSubstr(address), HasSubstr("must be local files")));
  }
  for (const char* path : {"a:/b.mp3", "://b.mp3", "c://b.mp3", "talks about http://x.mp3"})
    EXPECT_TRUE(expect_local(path)) << path;
}

TEST_F(Inputs, AddressesAreTakenWhereTheyAreWanted) {
  put("list.txt", "https://host/talks/my%20talk.mp3?version=2\n/talks/b.mp3\nftp://host/a.mp3\n");
  const InputOptions options{.addresses = true};
  EXPECT_THAT(read({"list.txt"}, options), ElementsAre("host/talks/my talk.mp3", "talks/b.mp3"));
  EXPECT_EQ(found_[0].file, "https://host/talks/my%20talk.mp3?version=2");
  EXPECT_EQ(found_[0].name(), "my talk.mp3");
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("list.txt:3: 'ftp://host/a.mp3': expected a file, or an address")));
  std::vector<std::string> below;
  const auto taken =
      read_inputs({"s3://bucket/a/what?.mp3", "https://host/x/../../b.mp3", "https://host/x/../../b.mp3"}, options,
                  {[&](Input&& input) { return below.push_back(input.below), true; }, {}});
  ASSERT_TRUE(taken) << taken.error().text();
  EXPECT_THAT(below, ElementsAre("what?.mp3", "b.mp3"));
  for (const char* wrong :
       {"https://host", "https://a:b@host/x.mp3", "s3://bucket", "s3://bucket/../x.mp3", "https:///x.mp3"})
    EXPECT_EQ(read_inputs({wrong}, options, {}).error().fault, Fault::usage) << wrong;
}

TEST_F(Inputs, LongListIsReadOnlyUpToTheLastWantedLine) {
  constexpr int kWanted = 1000;
  std::string lines;
  for (int i = 0; i < 100'000; ++i)  // after the wanted ones come addresses, which would be problems
    lines += (i < kWanted ? "/archive/talk" : "https://example.org/talk") + std::to_string(i) + ".mp3\n";
  const fs::path list = put("list.txt", lines);
  int taken = 0, problems = 0;
  const auto tally = read_inputs({list.string()}, {},
                                 {[&](Input&& input) {
                                    EXPECT_EQ(input.file, "/archive/talk" + std::to_string(taken) + ".mp3");
                                    return ++taken < kWanted;
                                  },
                                  [&](Error&&) { ++problems; }});
  ASSERT_TRUE(tally);
  EXPECT_EQ(taken, kWanted);
  EXPECT_EQ(problems, 0);
  EXPECT_EQ(tally->taken, kWanted);
  EXPECT_EQ(tally->unusable, 0);
}

}  // namespace
}  // namespace tutti
