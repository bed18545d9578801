#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace tutti {

/// What kind of thing went wrong. Decides retries and exit codes; the text is for people.
enum class Fault {
  usage,        // the caller's request is not valid
  missing,      // a file, model or device is not there
  corrupt,      // the thing is there but damaged
  unsupported,  // well-formed, but not something this build can do
  refused,      // a permission, a limit or a lock is in the way: only its owner can end that
  exhausted,    // memory, descriptors or another resource ran out
  full,         // a disk or a quota has no space left: worth waiting for
  unavailable,  // it is there and does not answer now: a network folder, a disk, a busy machine
  device,       // a device or worker process failed
  cancelled,    // the user or the caller stopped it
  internal,     // a broken promise of our own
};

/// A failure a corpus will surely contain, as a value. `what` names the thing, what was expected and what was found;
/// `hint` is what to do about it and may be empty.
struct Error {
  Fault fault = Fault::internal;
  std::string what;
  std::string hint{};

  /// One line: the text, then the hint.
  std::string text() const { return hint.empty() ? what : what + ". " + hint; }
};

template <class T>
using Result = tl::expected<T, Error>;

/// The failing branch of a Result: `return fail(Fault::missing, path + ": no such file")`.
inline tl::unexpected<Error> fail(Fault fault, std::string what, std::string hint = {}) {
  return tl::unexpected<Error>(Error{fault, std::move(what), std::move(hint)});
}

/// Passes an error on, with the thing it happened to in front.
inline tl::unexpected<Error> fail_in(std::string_view thing, Error error) {
  error.what = std::string(thing) + ": " + error.what;
  return tl::unexpected<Error>(std::move(error));
}

/// The error for a system call that failed on `thing` with that errno: names the thing, what was tried ("cannot be
/// opened"), the reason and the way out. Decides what kind of fault each errno is.
Error system_error(std::string_view thing, std::string_view doing, int error_number);

/// The failing branch of a Result for the system call that this thread has just seen fail: system_error of errno.
tl::unexpected<Error> fail_errno(std::string_view thing, std::string_view doing);

}  // namespace tutti
