#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/environment.h"
#include "base/error.h"
#include "base/new_file.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path) {
  TRY(expect_no_nul(path));
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(path.string(), "cannot be opened");
  return read_rest(fd.get(), path.string());
}

namespace {

/// Open for reading, and its size. O_NONBLOCK: the opening of a pipe would wait for its writer.
struct RegularFile {
  OwnedFd fd{};
  std::size_t size = 0;
};

Result<RegularFile> open_regular(const fs::path& path) {
  TRY(expect_no_nul(path));
  RegularFile file{.fd = OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  struct stat facts {};
  if (!file.fd || ::fstat(file.fd.get(), &facts) != 0) return fail_errno(path.string(), "cannot be opened");
  if (!S_ISREG(facts.st_mode)) return fail(Fault::usage, path.string() + ": expected a regular file");
  file.size = static_cast<std::size_t>(facts.st_size);
  return file;
}

}  // namespace

Result<std::string> read_regular_file(const fs::path& path) {
  const auto file = TRY(open_regular(path));
  return read_rest(file.fd.get(), path.string());
}

Result<std::string> read_rest(int fd, std::string_view thing) {
  constexpr off_t kReserved = 64 << 20;  // bytes at most, of what a file claims to be long
  std::string content;
  struct stat facts {};
  if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
    content.reserve(static_cast<std::size_t>(std::clamp<off_t>(facts.st_size, 0, kReserved)));
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(thing, "cannot be read");
    if (got == 0) return content;
    content.append(block, static_cast<std::size_t>(got));
  }
}

Result<void> write_all(int fd, std::span<const std::byte> bytes, std::string_view thing) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(thing, "could not be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> write_at(int fd, std::span<const std::byte> bytes, std::int64_t offset, std::string_view thing) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(thing, "could not be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
  return {};
}

Result<std::size_t> read_at(int fd, std::span<std::byte> out, std::int64_t offset, std::string_view thing) {
  std::size_t count = 0;
  while (count < out.size()) {
    const ssize_t got = ::pread(fd, out.data() + count, out.size() - count, offset + static_cast<std::int64_t>(count));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(thing, "cannot be read");
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  return count;
}

bool read_whole(int fd, std::span<std::byte> out, std::int64_t offset) {
  return read_at(fd, out, offset, {}).value_or(0) == out.size();
}

Result<void> make_folders(const fs::path& folder) {
  if (auto named = expect_no_nul(folder); !named) return named;
  std::error_code why;
  fs::create_directories(folder, why);
  if (why) return tl::unexpected<Error>(system_error(folder.string(), "could not be created", why.value()));
  return {};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Result<void> sync_folder(const fs::path& folder) {
  const OwnedFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::fsync(fd.get()) == 0) return {};
  // A folder that may only be written to, or a file system that cannot do it: what is in it is there all the same.
  if (errno == EACCES || errno == EINVAL || errno == ENOTSUP) return {};
  return fail_errno(folder.string(), "could not be synced");
}

namespace {

Result<void> write_in_place(const fs::path& path, std::string_view content) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno(path.string(), "cannot be opened");
  return write_all(fd.get(), std::as_bytes(std::span(content)), path.string());
}

}  // namespace

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
  if (auto named = expect_no_nul(path); !named) return named;
  std::error_code ignored;  // the open below reports what matters
  if (fs::is_other(path, ignored)) return write_in_place(path, content);
  if (fs::is_symlink(path, ignored)) {
    const bool leads_somewhere = fs::exists(path, ignored);
    const fs::path target =
        leads_somewhere ? fs::canonical(path, ignored) : path.parent_path() / fs::read_symlink(path, ignored);
    if (!fs::is_symlink(target, ignored)) return write_file_atomically(target, content);
  }
  return replace_file_atomically(path, content);
}

namespace {

/// The folder itself, or what it would be made in. A link that leads nowhere exists: no folder can be made under its
/// name.
fs::path nearest_that_exists(fs::path folder) {
  std::error_code ignored;
  while (fs::symlink_status(folder, ignored).type() == fs::file_type::not_found)
    folder = folder.has_relative_path() && folder.has_parent_path() ? folder.parent_path() : ".";
  return folder;
}

}  // namespace

std::error_code why_not_writable(const fs::path& folder) {
  const fs::path nearest = nearest_that_exists(folder);
  std::error_code why;
  if (!fs::is_directory(nearest, why)) return why ? why : std::make_error_code(std::errc::not_a_directory);
  // By the rights that the writing will have, which are not always those of the user who started us.
  if (::faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return {errno, std::generic_category()};
  return {};
}

Result<void> expect_space(const fs::path& folder, Bytes needed, std::string_view what, std::string hint) {
  std::error_code failed;
  const auto space = fs::space(folder, failed);
  // A network file system may claim any number, also one that is negative as int64.
  const Bytes free{static_cast<std::int64_t>(std::min<std::uintmax_t>(space.available, INT64_MAX))};
  if (failed || needed <= free) return {};
  return fail(Fault::full,
              folder.string() + ": " + std::string(what) + " takes " + bytes_text(needed) + ", " + bytes_text(free) +
                  " are free",
              std::move(hint));
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  const auto file = TRY(open_regular(path));
  if (file.size == 0) return MappedFile({});
  void* at = ::mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.fd.get(), 0);
  if (at == MAP_FAILED) return fail_errno(path.string(), "cannot be mapped");
  return MappedFile({static_cast<const std::byte*>(at), file.size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

fs::path temporary_folder() {
  return variable("TMPDIR").value_or("/tmp");
}

Result<OwnedFd> open_unnamed_file() {
  const fs::path folder = temporary_folder();
  OwnedFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // Some file systems have no O_TMPFILE: a named file, unlinked at once, is the same thing.
  std::string name = (folder / "tutti.XXXXXX").string();
  fd = OwnedFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) {
    const Error error = system_error(folder.string(), "a temporary file could not be created", errno);
    // No fault of whatever was to be put there, as a file that is missing is.
    return fail(error.fault == Fault::missing ? Fault::unavailable : error.fault, error.what,
                "Point TMPDIR at a folder that is there, has space and is yours to write to");
  }
  ::unlink(name.c_str());
  return fd;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_taken(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

fs::path cache_folder() {
  return xdg_folder(own_variables::kCache, "XDG_CACHE_HOME", ".cache");
}

}  // namespace tutti
