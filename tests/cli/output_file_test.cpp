#include <gtest/gtest.h>

#include "base/files.h"
#include "cli/flags.h"
#include "support/closed_folder.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(OutputFile, IsWhereAFileIsOrCouldBeMade) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "there", ""));
  for (const std::filesystem::path& good : {std::filesystem::path(), folder / "there", folder / "new",
                                            folder / "deep/er/new", std::filesystem::path("/dev/null")})
    EXPECT_TRUE(expect_output_file("--report", good)) << good;
  const auto below_a_file = expect_output_file("--report", folder / "there/new");
  ASSERT_FALSE(below_a_file);
  EXPECT_EQ(below_a_file.error().fault, Fault::missing);
  EXPECT_NE(below_a_file.error().what.find("there/new: cannot be written"), std::string::npos);
  const auto taken = expect_output_file("--report", folder.path());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().fault, Fault::usage);
}

TEST(OutputFile, ExistingFileInReadOnlyFolderIsRefused) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "reports/report.json", "of the run before"));
  std::filesystem::create_symlink(folder / "reports/report.json", folder / "link.json");
  for (const char* name : {"reports/report.json", "link.json"})
    EXPECT_TRUE(expect_output_file("--report", folder / name)) << name;
  const ClosedFolder closed(folder / "reports");
  const auto refused = expect_output_file("--report", folder / "reports/report.json");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
  EXPECT_FALSE(write_file_atomically(folder / "reports/report.json", "of this one"));
  EXPECT_TRUE(expect_output_file("--report", folder / "link.json")) << "the link is replaced, not what it leads to";
  EXPECT_TRUE(expect_output_file("--report", "/dev/null"));
}
