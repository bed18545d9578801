#pragma once

#include <memory>

#include "base/error.h"
#include "feed/options.h"
#include "feed/packed/packed_set.h"
#include "feed/source/dataset.h"

namespace tutti {

/// The set packed as `options.resident` requests: found in the cache's folder, else packed now, by one process at a
/// time. A damaged pack is reported and made again. Null where the folder cannot hold it, or the machine cannot read
/// all samples now: that is logged once, and samples are read one by one. Fault::exhausted where memory cannot hold it,
/// Fault::usage where the cache may not be as large; both before any work.
Result<std::shared_ptr<const PackedSet>> open_packed(const FeedOptions& options, const Dataset& set);

}  // namespace tutti
