#include "model/convert/file_on_the_way.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<FileOnTheWay> FileOnTheWay::open_in(const fs::path& folder) {
  OwnedFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (fd) return FileOnTheWay(std::move(fd), {});
  std::string name = (folder / ".tutti-convert.XXXXXX").string();
  fd = OwnedFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd || ::fchmod(fd.get(), kMode) != 0) return fail_errno(folder.string(), "a file could not be created in it");
  return FileOnTheWay(std::move(fd), std::move(name));
}

FileOnTheWay::~FileOnTheWay() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<void> FileOnTheWay::put_at(const fs::path& path) {
  const auto self = "/proc/self/fd/" + std::to_string(fd_.get());
  const bool there = name_.empty() ? ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0
                                   : ::rename(name_.c_str(), path.c_str()) == 0;
  if (!there) return fail_errno(path.string(), "could not be put in place");
  name_.clear();
  return {};
}

}  // namespace tutti
