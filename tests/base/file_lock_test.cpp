#include "base/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/owned.h"
#include "support/no_locks.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

class FileLock : public testing::Test {
 protected:
  OwnedFd open() const { return OwnedFd(::open((folder_ / "a.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }
  static Result<bool> try_lock(const OwnedFd& file) {
    return try_lock_file(file.get(), "a.lock", "Name another folder");
  }

  TempFolder folder_;
};

}  // namespace

TEST_F(FileLock, OneHasItAtATimeAndItGoesWithItsDescriptor) {
  OwnedFd first = open();
  const OwnedFd second = open();
  EXPECT_EQ(try_lock(first), true);
  EXPECT_EQ(try_lock(second), false);
  first = OwnedFd();
  EXPECT_TRUE(lock_file(second.get(), "a.lock", "Name another folder"));
  EXPECT_EQ(try_lock(open()), false);
}

TEST_F(FileLock, AFileSystemWithoutLocksIsNotTakenForAnotherWhoHasIt) {
  const OwnedFd file = open();
  const NoLocks none;
  const Result<bool> tried = try_lock(file);
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().fault, Fault::unsupported);
  EXPECT_NE(tried.error().text().find("its file system keeps no locks. Name another folder"), std::string::npos)
      << tried.error().text();
  EXPECT_EQ(lock_file(file.get(), "a.lock", "Name another folder").error().text(), tried.error().text());
}

TEST_F(FileLock, AnotherFaultIsItsOwn) {
  const Result<bool> tried = try_lock(OwnedFd());
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().what.find("keeps no locks"), std::string::npos);
  EXPECT_NE(tried.error().what.find("a.lock: could not be locked"), std::string::npos) << tried.error().text();
}
