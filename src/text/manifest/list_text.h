#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// What ends each entry of a list: a line's end, or a NUL where there is one, as `find -print0` writes.
char entry_end(std::string_view text);

/// Fault::unsupported where a list, table or manifest is in an encoding other than one that ASCII is part of (UTF-8,
/// Latin-1, ...): UTF-16 without its byte order mark, UTF-32, or no text at all. `nul_ends`: NULs may end its entries.
/// `name` is for messages.
Result<void> expect_text(std::string_view text, bool nul_ends, const std::string& name);

}  // namespace tutti
