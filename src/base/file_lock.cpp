#include "base/file_lock.h"

#include <sys/file.h>

#include <cerrno>

#include "base/system_error.h"

namespace tutti {
namespace {

/// A network folder without its lock service, or one that never had any (Lustre without -o flock).
bool means_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EINVAL;
}

/// As flock, but over signals.
int locked(int file, int how) {
  int result = 0;
  do result = ::flock(file, how);
  while (result != 0 && errno == EINTR);
  return result;
}

tl::unexpected<Error> not_locked(const std::string& thing, std::string_view way_out) {
  const int error_number = errno;
  Error error = system_error(thing, "could not be locked", error_number);
  if (means_no_locks(error_number)) {
    error.fault = Fault::unsupported;
    error.what += "; its file system keeps no locks";
    error.hint = way_out;
  }
  return tl::unexpected(std::move(error));
}

}  // namespace

Result<bool> try_lock_file(int file, const std::string& thing, std::string_view way_out) {
  if (locked(file, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return not_locked(thing, way_out);
}

Result<void> lock_file(int file, const std::string& thing, std::string_view way_out) {
  if (locked(file, LOCK_EX) == 0) return {};
  return not_locked(thing, way_out);
}

}  // namespace tutti
