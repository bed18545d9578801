#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace tutti {

/// Whether an exception means that memory ran out, of a device or of this process: with less at once it may go.
bool is_out_of_memory(const std::exception& problem);

/// Its text, in one line and without torch's backtrace.
std::string text_of(const std::exception& problem);

/// As an error. `failed`: what came to nothing ("the model could not be written"). Fault::exhausted with `hint` where
/// memory ran out, else Fault::internal.
Error failure_of(const std::exception& problem, const std::string& failed, std::string hint);

}  // namespace tutti
