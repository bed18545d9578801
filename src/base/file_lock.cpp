#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

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

Result<OwnedFd> take_hold(const Hold& hold) {
  constexpr auto kBetween = std::chrono::milliseconds(50);
  OwnedFd fd(::open(hold.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(hold.file.string(), "could not be opened");
  const auto until = Clock::real().now() + hold.patience;
  for (bool reported = false;; reported = true) {
    const auto taken = try_lock_file(fd.get(), hold.file.string(), "");
    if (!taken && taken.error().fault == Fault::unsupported) {
      log(Level::warning, taken.error().what + ": " + hold.unnoticed + " would not be noticed");
      return OwnedFd();
    }
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (*taken) return fd;
    if (Clock::real().now() >= until) return fail(Fault::refused, hold.other, hold.way_out);
    if (!reported) log(Level::info, hold.other + "; waiting a moment for its end");
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace tutti
