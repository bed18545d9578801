#include "serve/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/strings.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(Access, EveryLineOfTheFileIsATokenWithoutItsBlanks) {
  const TempFolder folder;
  const LogCapture log;
  ASSERT_TRUE(write_file_atomically(folder / "tokens", "\n  first \r\nsecond\n\n"));
  const auto access = Access::from_file(folder / "tokens").value();
  EXPECT_TRUE(access.client_of("Bearer first"));
  EXPECT_TRUE(access.client_of("bearer  second "));
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer firs", "Bearer firstt", "Basic first", "first"})
    EXPECT_FALSE(access.client_of(wrong)) << wrong;
}

TEST(Access, LineMayNameItsToken) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "tokens", "alice  first\nsecond\n"));
  const auto access = Access::from_file(folder / "tokens").value();
  EXPECT_EQ(access.client_of("Bearer first")->name, "alice");
  const auto unnamed = access.client_of("Bearer second");
  EXPECT_EQ(unnamed->name, "token-" + unnamed->fingerprint.substr(0, 6));
  EXPECT_EQ(unnamed->fingerprint.size(), 12U);
  ASSERT_TRUE(write_file_atomically(folder / "tokens", "alice first second\n"));
  EXPECT_FALSE(Access::from_file(folder / "tokens"));
}

TEST(Access, OnlyTokenIsAnOperatorsAndOfSeveralNone) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "one", "first\n"));
  EXPECT_TRUE(Access::from_file(folder / "one")->client_of("Bearer first")->is_operator);
  ASSERT_TRUE(write_file_atomically(folder / "two", "first\nsecond\n"));
  const auto several = Access::from_file(folder / "two").value();
  EXPECT_FALSE(several.client_of("Bearer first")->is_operator);
  EXPECT_FALSE(several.client_of("Bearer second")->is_operator);
}

TEST(Access, NamedOperatorsAreTheOnlyOnes) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "clients", "first\n"));
  ASSERT_TRUE(write_file_atomically(folder / "operators", "root boss\n"));
  auto access = Access::from_file(folder / "clients").value();
  ASSERT_TRUE(access.add_operators(folder / "operators"));
  EXPECT_FALSE(access.client_of("Bearer first")->is_operator);
  EXPECT_TRUE(access.client_of("Bearer boss")->is_operator);
  EXPECT_FALSE(access.add_operators(folder / "absent"));
}

TEST(Access, FileWithoutATokenIsRefused) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "tokens", " \n\n"));
  EXPECT_FALSE(Access::from_file(folder / "tokens"));
  EXPECT_FALSE(Access::from_file(folder / "absent"));
}

TEST(Access, TokenIsMadeOnceForItsUserAlone) {
  const TempFolder folder;
  ASSERT_TRUE(Access::from_state(folder / "state"));
  const std::string token = read_file(folder / "state/token").value();
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "state/token").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat((folder / "state").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);
  EXPECT_GE(token.size(), 40U);
  const auto again = Access::from_state(folder / "state").value();
  EXPECT_EQ(read_file(folder / "state/token").value(), token);
  EXPECT_TRUE(again.client_of("Bearer " + std::string(trimmed(token))));
}
