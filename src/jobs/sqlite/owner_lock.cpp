#include "jobs/sqlite/owner_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "base/error.h"
#include "base/file_lock.h"
#include "base/random/kernel_random.h"
#include "jobs/sqlite/local_disk.h"

namespace tutti {

namespace fs = std::filesystem;

Result<OwnerLock> OwnerLock::take(const fs::path& folder) {
  std::string name = random_token();
  fs::path path = folder / name;
  const fs::path unlocked = folder / ("." + name);  // no process takes the owner for gone before it holds its lock
  OwnedFd file(::open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return fail_errno(path.string(), "could not be created");
  auto taken = lock_file(file.get(), path.string(), state_elsewhere());
  if (taken && ::rename(unlocked.c_str(), path.c_str()) != 0)
    taken = fail_errno(path.string(), "could not be put in place");
  if (!taken) {
    ::unlink(unlocked.c_str());  // no other process looks at it
    return tl::unexpected(taken.error());
  }
  return OwnerLock(std::move(path), std::move(name), std::move(file));
}

OwnerLock::~OwnerLock() {
  if (file_) ::unlink(path_.c_str());
}

bool OwnerLock::has_gone(const fs::path& folder, const std::string& name) {
  const fs::path path = folder / name;
  const OwnedFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return errno == ENOENT;
  const auto locked = try_lock_file(file.get(), path.string(), state_elsewhere());
  if (!locked || !*locked) return false;
  ::unlink(path.c_str());
  return true;
}

void OwnerLock::clean(const fs::path& folder) {
  std::error_code why;
  for (const auto& entry : fs::directory_iterator(folder, why))
    if (const auto name = entry.path().filename().string(); !name.starts_with('.')) has_gone(folder, name);
}

}  // namespace tutti
