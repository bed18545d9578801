#include "audio/recording.h"

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/files.h"
#include "base/try.h"

namespace tutti {

std::string name_of_input(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

std::vector<std::string> Recording::remarks() const {
  std::vector<std::string> all = losses_;
  all.insert(all.end(), notes_.begin(), notes_.end());
  return all;
}

Result<void> Recording::read(std::int64_t first, std::span<std::int16_t> out) const {
  const auto wanted = static_cast<std::int64_t>(out.size());
  const std::int64_t from = std::clamp<std::int64_t>(first, 0, samples_);
  const std::int64_t to = std::clamp<std::int64_t>(first + wanted, from, samples_);
  const auto before = std::clamp<std::int64_t>(-first, 0, wanted);
  std::fill_n(out.begin(), before, std::int16_t{0});
  const auto bytes =
      std::as_writable_bytes(out.subspan(static_cast<std::size_t>(before), static_cast<std::size_t>(to - from)));
  const auto got =
      TRY(read_at(pcm_.get(), bytes, from * static_cast<std::int64_t>(sizeof(std::int16_t)), "decoded sound"));
  if (got < bytes.size()) return tl::unexpected(system_error("decoded sound", "cannot be read back", EIO));
  std::fill(out.begin() + before + (to - from), out.end(), std::int16_t{0});
  return {};
}

}  // namespace tutti
