#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// A training's hold (take_hold) on its folder OUT, which is made. Another training into it would clear away what this
/// one is writing, and both would write one metrics.jsonl.
Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience = Seconds(10));

}  // namespace tutti
