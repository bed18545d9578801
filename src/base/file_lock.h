#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Takes the lock (flock) of what `file` has open; it goes with the last descriptor, whatever kills us. False: somebody
/// else has it. `thing` names the file in errors, `way_out` says what to do where its file system keeps no locks.
Result<bool> try_lock_file(int file, const std::string& thing, std::string_view way_out);

/// The same, but waits for whoever has it.
Result<void> lock_file(int file, const std::string& thing, std::string_view way_out);

}  // namespace tutti
