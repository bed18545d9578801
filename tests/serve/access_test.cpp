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
  EXPECT_EQ(access.token_of("Bearer first"), 0U);
  EXPECT_EQ(access.token_of("bearer  second "), 1U);
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer firs", "Bearer firstt", "Basic first", "first"})
    EXPECT_FALSE(access.token_of(wrong)) << wrong;
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
  EXPECT_GE(token.size(), 40U);
  const auto again = Access::from_state(folder / "state").value();
  EXPECT_EQ(read_file(folder / "state/token").value(), token);
  EXPECT_TRUE(again.token_of("Bearer " + std::string(trimmed(token))));
}
