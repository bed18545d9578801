#include "audio/recording.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"

namespace tutti {

Result<void> Recording::read(std::int64_t first, std::span<std::int16_t> out) const {
  const auto wanted = static_cast<std::int64_t>(out.size());
  const std::int64_t from = std::clamp<std::int64_t>(first, 0, samples_);
  const std::int64_t to = std::clamp<std::int64_t>(first + wanted, from, samples_);
  const auto before = std::clamp<std::int64_t>(-first, 0, wanted);
  std::fill_n(out.begin(), before, std::int16_t{0});
  auto bytes =
      std::as_writable_bytes(out.subspan(static_cast<std::size_t>(before), static_cast<std::size_t>(to - from)));
  std::int64_t offset = from * static_cast<std::int64_t>(sizeof(std::int16_t));
  while (!bytes.empty()) {
    const ssize_t got = ::pread(pcm_.get(), bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return tl::unexpected<Error>(system_error("decoded sound", "cannot be read back", got < 0 ? errno : EIO));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  std::fill(out.begin() + before + (to - from), out.end(), std::int16_t{0});
  return {};
}

}  // namespace tutti
