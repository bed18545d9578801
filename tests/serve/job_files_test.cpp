#include "serve/jobs/job_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files.h"
#include "jobs/open_store.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class JobFilesTest : public testing::Test {
 protected:
  JobFiles open(fs::path allowed = {}) {
    auto files = JobFiles::open({.state = folder_.path() / "state", .allowed = std::move(allowed)});
    EXPECT_TRUE(files) << files.error().text();
    return std::move(*files);
  }
  static void keep(const JobFiles& files, const std::string& key, std::string_view content) {
    const auto upload = files.open_upload();
    ASSERT_TRUE(upload);
    ASSERT_EQ(::write(upload->get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ASSERT_TRUE(files.keep_upload(upload->get(), key));
  }
  static std::string read(const JobFiles& files, const JobRequest& request, const std::string& key) {
    const auto audio = files.open_audio(request, key, [] { return true; });
    return audio ? *read_rest(audio->get(), "audio") : audio.error().text();
  }

  TempFolder folder_;
};

TEST_F(JobFilesTest, UploadIsThereOnceItIsKeptAndNotBefore) {
  const JobFiles files = open();
  {
    const auto dropped = files.open_upload();
    ASSERT_TRUE(dropped);
    EXPECT_TRUE(fs::is_empty(files.folder())) << "it has no name yet";
  }
  keep(files, files.key_of("a"), "one");
  EXPECT_EQ(read(files, {}, files.key_of("a")), "one");
  keep(files, files.key_of("a"), "another");
  EXPECT_EQ(read(files, {}, files.key_of("a")), "another");
  files.remove_upload(files.key_of("a"));
  EXPECT_TRUE(fs::is_empty(files.folder()));
}

TEST_F(JobFilesTest, OtherUsersCannotLookIntoTheFolder) {
  struct stat facts {};
  ASSERT_EQ(::stat(open().folder().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);
}

TEST_F(JobFilesTest, PathsAreReadInTheAllowedFolderAlone) {
  const fs::path root = folder_.path() / "allowed";
  fs::create_directories(root / "sub");
  std::ofstream(root / "sub/a.wav") << "a";
  std::ofstream(folder_.path() / "secret") << "s";
  std::ofstream(folder_.path() / "allowed-too") << "s";
  fs::create_symlink(folder_.path() / "secret", root / "out");
  fs::create_symlink(root / "sub/a.wav", root / "in");
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  const JobFiles files = open(root);
  for (const std::string& path : {(root / "sub/a.wav").string(), std::string("sub/a.wav"), std::string("in"),
                                  (root / "sub/../sub/a.wav").string()})
    EXPECT_TRUE(files.check_path(path)) << path;
  const auto fault = [&](const std::string& path) {
    const auto checked = files.check_path(path);
    return checked ? Fault::internal : checked.error().fault;
  };
  for (const char* path : {"out", "../secret", "/etc/passwd", "../allowed-too", "sub/../../secret", "../none", "."})
    EXPECT_EQ(fault(path), Fault::refused) << path;
  EXPECT_EQ(fault("none"), Fault::missing);
  EXPECT_EQ(fault("pipe"), Fault::unsupported);
  EXPECT_EQ(fault("sub"), Fault::unsupported);
  EXPECT_EQ(read(files, {.source = JobRequest::Source::path, .location = "in"}, ""), "a");
}

TEST_F(JobFilesTest, NoPathIsReadWhereNoFolderIsAllowed) {
  const auto checked = open().check_path("/etc/hostname");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().fault, Fault::refused);
  EXPECT_NE(checked.error().hint.find("allow_root"), std::string::npos);
}

TEST_F(JobFilesTest, SweepRemovesUploadsThatNoOpenJobHas) {
  const JobFiles files = open();
  const auto store = *open_store({.url = folder_.path() / "state"});
  const RunId run = *store->begin_run({});
  const auto add = [&](const std::string& digest) {
    const JobSpec spec{.key = files.key_of(digest), .batch = "/v1/jobs/x"};
    ASSERT_TRUE(store->submit(run, {&spec, 1}));
    keep(files, spec.key, digest);
  };
  add("done");
  auto lease = store->claim({});
  ASSERT_TRUE(store->complete((*lease)->key, {}, {}).value());
  add("queued");
  keep(files, files.key_of("unknown"), "x");
  files.sweep(*store);
  EXPECT_EQ(read(files, {}, files.key_of("queued")), "queued");
  EXPECT_FALSE(fs::exists(files.key_of("done") + ".audio"));
  EXPECT_FALSE(fs::exists(files.key_of("unknown") + ".audio"));
}

}  // namespace
}  // namespace tutti
