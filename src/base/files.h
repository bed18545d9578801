#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// The whole content of a small file; Fault::missing, and system_error's fault for any other error. A pipe is waited
/// for.
Result<std::string> read_file(const std::filesystem::path& path);

/// The same, for a regular file only, such as one in a model's folder: a pipe, which may never get a writer, is refused
/// at once, and so is whatever else is no regular file.
Result<std::string> read_regular_file(const std::filesystem::path& path);

/// All that is still to come from an open file, pipe or socket; `thing` names it in errors.
Result<std::string> read_rest(int fd, std::string_view thing);

/// Writes `content` so that `path` either keeps its old content or has all of the new: temporary file in the same
/// folder, fsync, rename, fsync of the folder. Creates missing folders. A link is followed; a pipe or device, also
/// /dev/stdout, is written to directly.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes a folder, and those above it, where they are not there yet.
Result<void> make_folders(const std::filesystem::path& folder);

/// The folder that `path` names something in: "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Makes what was renamed, created or removed in a folder last through a power cut.
Result<void> sync_folder(const std::filesystem::path& folder);

/// Why no file could be made in `folder`, as far as that can be found out without making one. For a folder that is not
/// there, the one that it would be made in counts. No error: one could.
std::error_code why_not_writable(const std::filesystem::path& folder);

/// Fault::full where the disk of `folder` has less than `needed` free, as far as that is known beforehand: a disk that
/// does not report it has space. `what` needs it, as in "the new model"; `hint` is what to do.
Result<void> expect_space(const std::filesystem::path& folder, Bytes needed, std::string_view what, std::string hint);

/// A file mapped read-only and shared: pages are the page cache's, so all processes of a machine hold one copy.
/// Empty files map to an empty span. A file that shrinks while mapped raises SIGBUS on access, as any mapping does.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// `size` bytes from `at` on, as a file claims to have them; empty where they are not all there.
  std::span<const std::byte> bytes(std::int64_t at, std::int64_t size) const {
    const auto all = std::ssize(bytes_);
    if (at < 0 || size < 0 || at > all || size > all - at) return {};
    return bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

/// $TMPDIR, else /tmp.
std::filesystem::path temporary_folder();

/// An open file without a name in the temporary folder: gone with its last descriptor, whatever kills us.
Result<OwnedFd> open_unnamed_file();

/// Writes all of `bytes` at the current position, over short writes and EINTR; where that fails, some may have been
/// written. `thing` names the file in errors, here and below.
Result<void> write_all(int fd, std::span<const std::byte> bytes, std::string_view thing);

/// As write_all, but `offset` bytes from the file's start. Moves no position, so threads may share `fd`.
Result<void> write_at(int fd, std::span<const std::byte> bytes, std::int64_t offset, std::string_view thing);

/// Fills `out` with the bytes from `offset` on and returns how many there were: fewer than requested at the file's end
/// only. Over short reads and EINTR; moves no position, so threads may share `fd`.
Result<std::size_t> read_at(int fd, std::span<std::byte> out, std::int64_t offset, std::string_view thing);

/// As read_at, for data that can be made again, so that the reason does not matter: false where `out` was not filled.
bool read_whole(int fd, std::span<std::byte> out, std::int64_t offset);

/// Whether something is at `path`, or where its links lead; false where that cannot be found out.
bool is_there(const std::filesystem::path& path);

/// Whether something has that name, a link that leads nowhere included.
bool is_taken(const std::filesystem::path& path);

/// Folders by the XDG rules: $TUTTI_CACHE, else $XDG_CACHE_HOME/tutti, else ~/.cache/tutti.
std::filesystem::path cache_folder();

}  // namespace tutti
