#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/error.h"
#include "support/closed_folder.h"
#include "support/environment.h"
#include "support/small_files.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(Files, AnAtomicWriteReplacesTheWholeContent) {
  const TempFolder folder;
  const auto path = folder / "deep/er/out.txt";
  ASSERT_TRUE(write_file_atomically(path, "first, and longer"));
  ASSERT_TRUE(write_file_atomically(path, "second"));
  EXPECT_EQ(read_file(path).value(), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1) << "no staging file stays";
}

TEST(Files, LackOfDiskSpaceIsReportedWithBothSizesAndRemedy) {
  const TempFolder folder;
  constexpr Bytes kExabyte{1'000'000'000'000'000'000};
  EXPECT_TRUE(expect_space(folder.path(), Bytes{1}, "a byte", "Free some space"));
  EXPECT_TRUE(expect_space(folder.path(), Bytes{-1}, "what is there already", "Free some space"));
  EXPECT_TRUE(expect_space(folder / "not there", kExabyte, "unknown", "Free some space"));
  const auto checked = expect_space(folder.path(), kExabyte, "the new model", "Free some space");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().fault, Fault::full);
  EXPECT_TRUE(checked.error().what.starts_with(folder.path().string() + ": the new model takes 1000000000.0 GB, "))
      << checked.error().what;
  EXPECT_TRUE(checked.error().text().ends_with(" are free. Free some space")) << checked.error().text();
}

TEST(Files, AnAtomicWriteFollowsLinksAndKeepsToTheUmask) {
  const TempFolder folder;
  std::filesystem::create_symlink("real.txt", folder / "link.txt");
  const mode_t before = ::umask(027);
  const auto first = write_file_atomically(folder / "link.txt", "first");
  const auto second = write_file_atomically(folder / "link.txt", "second");
  ::umask(before);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(read_file(folder / "real.txt").value(), "second");
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "real.txt").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640U);
}

TEST(Files, ANameAsLongAsNamesMayBeIsWritten) {
  const TempFolder folder;
  const auto path = folder / std::string(255, 'x');
  const auto written = write_file_atomically(path, "whole");
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(read_file(path).value(), "whole");
}

TEST(Files, WritableCheckWritesNothingAndCoversMissingFolders) {
  const TempFolder folder;
  const auto made = folder / "made", file = folder / "file", lost = folder / "lost";
  std::filesystem::create_directory(made);
  std::filesystem::create_symlink("nowhere", lost);
  ASSERT_TRUE(write_file_atomically(file, ""));
  for (const auto& good : {made, made / "new/deeper"}) EXPECT_FALSE(why_not_writable(good)) << good;
  for (const auto& wrong : {file, file / "new", lost, lost / "new"}) EXPECT_TRUE(why_not_writable(wrong)) << wrong;
  {
    const ClosedFolder closed(made);
    for (const auto& now : {made, made / "new/deeper"})
      EXPECT_EQ(why_not_writable(now), std::errc::permission_denied) << now;
  }
  EXPECT_FALSE(why_not_writable(made));
  EXPECT_FALSE(std::filesystem::exists(made / "new"));
}

TEST(Files, PipeIsWrittenDirectlyAndStaysAPipe) {
  const TempFolder folder;
  const auto path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string found;
  std::jthread reader([&] { found = read_file(path).value_or(""); });
  ASSERT_TRUE(write_file_atomically(path, "to whom it concerns"));
  reader.join();
  EXPECT_EQ(found, "to whom it concerns");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(Files, APipeIsNotWaitedForWhereAFileIsExpected) {
  const TempFolder folder;
  const auto path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto read = read_regular_file(path);
  const auto mapped = MappedFile::open(path);
  ASSERT_FALSE(read);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(read.error().what, path.string() + ": expected a regular file");
  EXPECT_EQ(mapped.error().what, read.error().what);
  ASSERT_TRUE(write_file_atomically(folder / "file", "all of it"));
  EXPECT_EQ(read_regular_file(folder / "file").value(), "all of it");
  EXPECT_EQ(read_regular_file(folder / "none").error().fault, Fault::missing);
}

TEST(Files, AFileThatIsNotThereIsNamedInTheError) {
  const auto content = read_file("/nowhere/at/all.txt");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().fault, Fault::missing);
  EXPECT_NE(content.error().what.find("/nowhere/at/all.txt"), std::string::npos);
}

TEST(Files, FullDiskHasAnotherFaultThanBadPath) {
  const auto written = write_file_atomically("/dev/full/x", "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(system_error("x", "could not be written", ENOSPC).fault, Fault::full);
}

TEST(Files, DeniedPermissionIsNotAUsageError) {
  for (const int forbidden : {EACCES, EPERM, EROFS})
    EXPECT_EQ(system_error("x", "cannot be opened", forbidden).fault, Fault::refused);
}

TEST(Files, OnlyWhatANameCannotMeanIsAFaultOfTheCommandLine) {
  for (const int code : {EISDIR, ELOOP, ENAMETOOLONG, EINVAL, EEXIST})
    EXPECT_EQ(system_error("x", "cannot be opened", code).fault, Fault::usage) << code;
  for (const int elsewhere : {ENOSYS, ENOTSUP, ETXTBSY, ENOLCK, EBADF, EPROTO, EADDRINUSE})
    EXPECT_NE(system_error("x", "cannot be opened", elsewhere).fault, Fault::usage) << elsewhere;
  EXPECT_EQ(system_error("x", "could not be started", ENOEXEC).fault, Fault::unsupported);
}

TEST(Files, FileSizeLimitIsRefusedWithLimitAndNotAsFullDisk) {
  const TempFolder folder;
  const SmallFiles limit(1 << 16);
  const auto written = write_file_atomically(folder / "large", std::string(1 << 20, 'x'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().fault, Fault::refused);
  EXPECT_NE(written.error().what.find(folder / "large"), std::string::npos) << written.error().text();
  EXPECT_NE(written.error().what.find("at most 66 kB"), std::string::npos) << written.error().text();
  EXPECT_NE(written.error().hint.find("ulimit -f"), std::string::npos) << written.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Files, ALimitThatIsTheFileSystemsOwnIsNotCalledTheProcesss) {
  const Error error = system_error("x", "could not be written", EFBIG);
  EXPECT_EQ(error.fault, Fault::refused);
  EXPECT_NE(error.hint.find("file system"), std::string::npos) << error.text();
}

TEST(Files, ReadAndWriteAtOffsetKeepTheFilePosition) {
  const auto file = open_unnamed_file();
  ASSERT_TRUE(file);
  const std::string text = "mel";
  ASSERT_TRUE(write_at(file->get(), std::as_bytes(std::span(text)), 5, "pack"));
  std::string found(3, '?');
  EXPECT_EQ(read_at(file->get(), std::as_writable_bytes(std::span(found)), 5, "pack").value(), 3U);
  EXPECT_EQ(found, "mel");
  EXPECT_EQ(::lseek(file->get(), 0, SEEK_CUR), 0);
}

TEST(Files, ReadAcrossTheEndIsShortAndBehindItEmpty) {
  const auto file = open_unnamed_file();
  ASSERT_TRUE(file);
  const std::string text = "frames";
  ASSERT_TRUE(write_at(file->get(), std::as_bytes(std::span(text)), 0, "pack"));
  std::string found(10, '?');
  EXPECT_EQ(read_at(file->get(), std::as_writable_bytes(std::span(found)), 4, "pack").value(), 2U);
  EXPECT_EQ(found, "es????????");
  EXPECT_EQ(read_at(file->get(), std::as_writable_bytes(std::span(found)), 6, "pack").value(), 0U);
}

TEST(Files, FailedReadOrWriteAtOffsetNamesFileAndReason) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "features", "frames"));
  const OwnedFd only_read(::open((folder / "features").c_str(), O_RDONLY | O_CLOEXEC));
  const OwnedFd only_written(::open((folder / "features").c_str(), O_WRONLY | O_CLOEXEC));
  std::string bytes(2, '?');
  const auto written = write_at(only_read.get(), std::as_bytes(std::span(bytes)), 0, "the pack");
  const auto read = read_at(only_written.get(), std::as_writable_bytes(std::span(bytes)), 0, "the pack");
  ASSERT_FALSE(written || read);
  EXPECT_EQ(written.error().what, "the pack: could not be written: Bad file descriptor");
  EXPECT_EQ(read.error().what, "the pack: cannot be read: Bad file descriptor");
}

TEST(Files, AFolderIsMadeWithThoseAboveItAndNotBelowAFile) {
  const TempFolder folder;
  ASSERT_TRUE(make_folders(folder / "a/b"));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
  EXPECT_TRUE(make_folders(folder / "a/b")) << "there already";
  ASSERT_TRUE(write_file_atomically(folder / "file", "x"));
  const auto below = make_folders(folder / "file/c");
  ASSERT_FALSE(below);
  EXPECT_NE(below.error().what.find(folder / "file/c: could not be created"), std::string::npos) << below.error().what;
}

TEST(Files, TheFolderOfABareNameIsThisOne) {
  EXPECT_EQ(folder_of("model.pt"), ".");
  EXPECT_EQ(folder_of("out/model.pt"), "out");
}

TEST(Files, AMappedFileShowsItsBytesAndAnEmptyOneNone) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "some", "weights"));
  ASSERT_TRUE(write_file_atomically(folder / "none", ""));
  EXPECT_EQ(MappedFile::open(folder / "some").value().text(), "weights");
  EXPECT_TRUE(MappedFile::open(folder / "none").value().bytes().empty());
}

TEST(Files, AnUnnamedFileHasNoName) {
  const auto fd = open_unnamed_file();
  ASSERT_TRUE(fd);
  struct stat facts {};
  ASSERT_EQ(::fstat(fd->get(), &facts), 0);
  EXPECT_EQ(facts.st_nlink, 0U);
}

TEST(Files, AnUnnamedFileWithoutItsFolderNamesTheVariableThatMovesIt) {
  const TempFolder folder;
  const ScopedVariable temporary("TMPDIR", (folder / "gone").c_str());
  const auto fd = open_unnamed_file();
  ASSERT_FALSE(fd);
  EXPECT_NE(fd.error().what.find("gone: a temporary file could not be created"), std::string::npos) << fd.error().what;
  EXPECT_NE(fd.error().hint.find("TMPDIR"), std::string::npos);
  EXPECT_EQ(fd.error().fault, Fault::unavailable) << "not as if a recording were missing";
}
