#pragma once

#include <filesystem>

#include "base/error.h"
#include "feed/labelled/labelled_set.h"

namespace tutti {

// Numbers stand for labels in a set, and features of two geometries may have one shape: a training that went on with
// another set would learn wrong labels without an error. So what it began with is in OUT/set.json.

/// Writes labels and geometry of a training's set to `out`/set.json.
Result<void> keep_set_facts(const std::filesystem::path& out, const LabelledSet& set);

/// Checks that a training in `out` goes on with a set of the same labels and geometry. Fault::usage names what was kept
/// and what the set has. A training of which nothing was kept passes.
Result<void> expect_kept_facts(const std::filesystem::path& out, const LabelledSet& set);

}  // namespace tutti
