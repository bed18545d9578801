#pragma once

#include <cstdint>

#include "base/error.h"
#include "feed/cache/cache_key.h"
#include "feed/options.h"
#include "feed/source/dataset.h"

namespace tutti {

/// Lines of the set that the options let in.
std::int64_t lines_of(const FeedOptions& options, const Dataset& set);

/// What a packed set is known by: the manifest's content, every file it names (its path, its size and when it was last
/// changed, which nothing can set back), the options that features, pieces and facts depend on, and the code's
/// versions. Queries the file system for every file of the set, some microseconds each, on the threads of the options.
Result<CacheKey> pack_key(const FeedOptions& options, const Dataset& set);

}  // namespace tutti
