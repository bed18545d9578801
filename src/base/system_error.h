#pragma once

#include <string_view>

#include "base/error.h"

namespace tutti {

/// The error for a system call that failed on `thing` with that errno: names the thing, what was tried ("cannot be
/// opened"), the reason and the way out. Decides what kind of fault each errno is.
Error system_error(std::string_view thing, std::string_view doing, int error_number);

/// The failing branch of a Result for the system call that this thread has just seen fail: system_error of errno.
tl::unexpected<Error> fail_errno(std::string_view thing, std::string_view doing);

}  // namespace tutti
