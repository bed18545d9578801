#include "base/new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <span>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/try.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

struct StagingFile {
  OwnedFd fd{};
  std::string path{};
};

/// A new file beside `path`, with the mode that the user's umask gives to new files (mkstemp's would be 0600).
Result<StagingFile> staging_file(const fs::path& path, const fs::path& folder) {
  static std::atomic<unsigned> made = 0;
  for (;;) {
    // Cut: with its addition a name that is just legal would be too long.
    std::string name = "." + path.filename().string().substr(0, 200) + ".";
    name += std::to_string(::getpid()) + "-" + std::to_string(made++);
    StagingFile file{.path = (folder / name).string()};
    file.fd = OwnedFd(::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.fd) return file;
    if (errno != EEXIST)
      return fail_errno(path.string(), "could not be created");  // else left by a process of our number
  }
}

}  // namespace

Result<void> expect_no_nul(const fs::path& path) {
  const std::string& name = path.native();
  const auto nul = name.find('\0');
  if (nul == std::string::npos) return {};
  return fail(
      Fault::usage,
      "'" + name.substr(0, nul) + "\\0" + name.substr(nul + 1) + "': expected a name of a file, found a NUL in it",
      "Names in a list end with a line or with a NUL, not with both");
}

Result<void> make_private_folder(const fs::path& folder) {
  fs::path named = folder.lexically_normal();
  if (!named.has_filename()) named = named.parent_path();  // "state/"
  if (auto above = make_folders(folder_of(named)); !above) return above;
  if (::mkdir(named.c_str(), 0700) == 0) return {};
  return make_folders(named);  // it is there, or why it cannot be made
}

Result<fs::path> write_beside(const fs::path& path, std::string_view content) {
  auto staging = TRY(staging_file(path, folder_of(path)));
  auto written = write_all(staging.fd.get(), std::as_bytes(std::span(content)), path.string());
  if (written && ::fsync(staging.fd.get()) != 0) written = fail_errno(path.string(), "could not be synced");
  if (written) return fs::path(staging.path);
  ::unlink(staging.path.c_str());
  return tl::unexpected<Error>(written.error());
}

fs::path path_of_descriptor(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

std::error_code name_descriptor(int file, const fs::path& to) {
  const auto self = path_of_descriptor(file);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
  return {errno, std::generic_category()};
}

Result<void> replace_file_atomically(const fs::path& path, std::string_view content) {
  if (auto named = expect_no_nul(path); !named) return named;
  std::error_code ignored;  // what follows reports what matters
  if (fs::is_other(path, ignored)) return write_file_atomically(path, content);
  const fs::path folder = folder_of(path);
  fs::create_directories(folder, ignored);
  const auto staging = TRY(write_beside(path, content));
  if (::rename(staging.c_str(), path.c_str()) == 0) return sync_folder(folder);
  auto failed = fail_errno(path.string(), "could not be put in place");
  ::unlink(staging.c_str());
  return failed;
}

Result<void> rewrite_file(const fs::path& path, std::string_view content) {
  constexpr mode_t kPermissions = 07777;
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return fail_errno(path.string(), "cannot be written again");
  const auto staging = TRY(write_beside(path, content));
  if (::chmod(staging.c_str(), facts.st_mode & kPermissions) == 0 && ::rename(staging.c_str(), path.c_str()) == 0)
    return sync_folder(folder_of(path));
  auto failed = fail_errno(path.string(), "could not be written again");
  ::unlink(staging.c_str());
  return failed;
}

std::error_code rename_if_free(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  // NFS, for one, knows no flags: a second name is never given to two files, either.
  if (errno == EINVAL || errno == ENOSYS) {
    if (::link(from.c_str(), to.c_str()) == 0) {
      ::unlink(from.c_str());
      return {};
    }
    // Nor has every file system second names.
    const bool knows_links = errno != EPERM && errno != ENOTSUP && errno != ENOSYS;
    std::error_code ignored;
    if (!knows_links && fs::exists(fs::symlink_status(to, ignored))) errno = EEXIST;
    if (!knows_links && errno != EEXIST && ::rename(from.c_str(), to.c_str()) == 0) return {};
  }
  return {errno, std::generic_category()};
}

}  // namespace tutti
