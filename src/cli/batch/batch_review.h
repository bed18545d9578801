#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "base/error.h"
#include "cli/review/review.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// Writes review.csv and review.html into `folder`, over all transcripts of the batch that are there as JSON. An empty
/// list with nothing looked at where there are none. `stopped` is asked now and then.
Result<ReviewList> review_batch(std::span<const BatchTask> tasks, const std::filesystem::path& folder,
                                const AudioChoice& audio, std::function<bool()> stopped);

}  // namespace tutti
