#include "model/convert/file_on_the_way.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/new_file.h"

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
  if (name_.empty()) {
    if (const auto why = name_descriptor(fd_.get(), path))
      return tl::unexpected(system_error(path.string(), "could not be put in place", why.value()));
  } else if (::rename(name_.c_str(), path.c_str()) != 0) {
    return fail_errno(path.string(), "could not be put in place");
  }
  name_.clear();
  return {};
}

}  // namespace tutti
