#pragma once

#include <exception>
#include <string>

namespace tutti {

/// Whether an exception says that memory ran out, of a device or of this process: with less at once it may go.
bool is_out_of_memory(const std::exception& problem);

/// What it says, in one line and without torch's backtrace.
std::string text_of(const std::exception& problem);

}  // namespace tutti
