#include "audio/byte_source.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace tutti {

Result<FileBytes> FileBytes::over(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail_errno("input", "cannot be examined");
  return FileBytes(fd, facts.st_size);
}

Result<std::size_t> FileBytes::read_at(std::int64_t offset, std::span<std::byte> out) {
  return tutti::read_at(fd_, out, offset, "input");
}

Result<std::size_t> MemoryBytes::read_at(std::int64_t offset, std::span<std::byte> out) {
  if (offset < 0 || offset >= size()) return 0;
  const auto rest = bytes_.subspan(static_cast<std::size_t>(offset));
  const auto count = std::min(rest.size(), out.size());
  std::copy_n(rest.begin(), count, out.begin());
  return count;
}

Result<std::size_t> HeadBytes::read_at(std::int64_t offset, std::span<std::byte> out) {
  if (!has_read_) {
    const auto got = whole_.read_at(0, head_);
    if (!got) return got;
    held_ = *got;
    has_read_ = true;
  }
  const bool is_inside = offset >= 0 && offset + std::ssize(out) <= static_cast<std::int64_t>(held_);
  if (!is_inside) return whole_.read_at(offset, out);
  std::copy_n(head_.begin() + offset, out.size(), out.begin());
  return out.size();
}

Result<std::size_t> PartBytes::read_at(std::int64_t offset, std::span<std::byte> out) {
  if (offset < 0 || offset >= size()) return 0;
  const auto rest = static_cast<std::uint64_t>(size() - offset);
  return whole_.read_at(begin_ + offset,
                        out.first(static_cast<std::size_t>(std::min<std::uint64_t>(rest, out.size()))));
}

}  // namespace tutti
