#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// A training's hold on its folder OUT: whoever else trains into it would clear away what this one is writing, and both
/// would write one metrics.jsonl. It goes with the process, whatever kills it; that may take a killed one a moment, so
/// one that is held is asked for again for `patience` before it is Fault::refused. Where the file system keeps no
/// locks, a warning says what is not noticed there, and the hold is empty.
Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience = Seconds(10));

}  // namespace tutti
