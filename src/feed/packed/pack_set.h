#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "feed/feature_cache.h"
#include "feed/options.h"
#include "feed/packed/sample_facts.h"
#include "feed/plan/planner.h"
#include "feed/source/dataset.h"

namespace tutti {

/// What a set comes to before anything of it is decoded.
struct PackPlan {
  std::vector<std::int64_t> firsts{};      ///< [lines + 1]: the first sample of each line
  std::vector<PlannedSample> samples{};    ///< a line that cannot be used is one of piece kBadLine
  std::map<std::int64_t, BadFacts> bad{};  ///< by line
  Bytes size{};                            ///< that the packed set will take, to a few per cent
};

/// Looks at every line, and at the headers of files whose length the line does not say, on the threads of the options.
/// Errors: what the machine has too little of now (memory, descriptors), or a disk that does not answer.
Result<PackPlan> plan_pack(const FeedOptions& options, const Dataset& set);

/// Decodes all samples, as a feed with a cache would, and writes them to `path` so that it appears whole. Uses what the
/// cache has and what an interrupted packing to this path has left; reports from time to time how far it is. Samples
/// that cannot be used are kept as such. Errors: what cannot be written, and what the machine is short of now: a sample
/// that cannot be read for that reason is not bad for good.
Result<void> write_pack(const FeedOptions& options, const Dataset& set, const PackPlan& plan, const CacheKey& key,
                        const std::filesystem::path& path);

}  // namespace tutti
