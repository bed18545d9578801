#include "jobs/sqlite/owner_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "jobs/open_store.h"
#include "support/no_locks.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(OwnerLock, AnOwnerIsThereUntilItGoesAndThenItsFileIsToo) {
  const TempFolder folder;
  std::string name;
  {
    const auto lock = OwnerLock::take(folder.path());
    ASSERT_TRUE(lock);
    name = lock->name();
    EXPECT_FALSE(OwnerLock::has_gone(folder.path(), name));
    OwnerLock::clean(folder.path());
    EXPECT_FALSE(OwnerLock::has_gone(folder.path(), name));
  }
  EXPECT_TRUE(OwnerLock::has_gone(folder.path(), name));
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(OwnerLock, AKilledOwnerHasGoneAndAStoppedOneHasNot) {
  const TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = OwnerLock::take(folder.path());
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  const std::string name = fs::directory_iterator(folder.path())->path().filename();
  EXPECT_FALSE(OwnerLock::has_gone(folder.path(), name));
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  OwnerLock::clean(folder.path());
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(OwnerLock, FolderWithoutLocksIsRefusedAndNoOwnerCountsAsGone) {
  const TempFolder folder;
  const auto lock = OwnerLock::take(folder.path());
  ASSERT_TRUE(lock);
  const NoLocks none;
  EXPECT_FALSE(OwnerLock::has_gone(folder.path(), lock->name()));
  for (const auto& refused : {open_store({.url = folder / "state"}).error(), OwnerLock::take(folder.path()).error()})
    EXPECT_NE(refused.text().find("keeps no locks. Name a folder on a disk of this machine with state DIR"),
              std::string::npos)
        << refused.text();
  EXPECT_EQ(files_in(folder.path()), 2U) << "the owner and the store's folder: who was refused leaves nothing";
}

}  // namespace
}  // namespace tutti
