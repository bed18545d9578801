#include "hub/part_file.h"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace tutti {

Result<PartFile> PartFile::open(std::filesystem::path target) {
  std::filesystem::path path = target;
  path += ".part";
  OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(path.string(), "could not be created");
  PartFile part(std::move(target), std::move(path), std::move(fd));
  std::vector<std::byte> block(1 << 20);
  for (;;) {
    const ssize_t got = ::read(part.fd_.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(part.path_.string(), "cannot be read");
    if (got == 0) return part;
    part.hash_.update(std::span(block).first(static_cast<std::size_t>(got)));
    part.size_ += got;
  }
}

Result<void> PartFile::append(std::string_view piece) {
  const auto bytes = std::as_bytes(std::span(piece));
  if (auto written = write_all(fd_.get(), bytes, path_.string()); !written) return written;
  hash_.update(bytes);
  size_ += static_cast<std::int64_t>(bytes.size());
  return {};
}

Result<void> PartFile::restart() {
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0)
    return fail_errno(path_.string(), "cannot be emptied");
  hash_ = {};
  size_ = 0;
  return {};
}

void PartFile::discard() {
  ::unlink(path_.c_str());
}

Result<void> PartFile::finish() {
  if (::fsync(fd_.get()) != 0) return fail_errno(path_.string(), "could not be synced");
  if (::rename(path_.c_str(), target_.c_str()) != 0) return fail_errno(target_.string(), "could not be put in place");
  return {};
}

}  // namespace tutti
