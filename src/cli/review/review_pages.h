#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "cli/review/review.h"
#include "jobs/publish.h"
#include "jobs/store.h"
#include "jobs/store_url.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// Writes the pages of a review. The store knows those that it wrote: a page that is the user's by now is kept as a
/// transcript is, and the new one goes beside it. One thread.
class ReviewPages {
 public:
  ReviewPages(StoreUrl store, Existing existing) : store_(std::move(store)), existing_(existing) {}

  Result<void> write(const std::filesystem::path& page, std::string_view content);
  /// Where the latest one is.
  const std::filesystem::path& last() const { return last_; }

 private:
  StoreUrl store_;
  Existing existing_;
  std::unique_ptr<OutputRecords> records_{};
  std::filesystem::path last_{};
};

/// Writes review.csv and review.html into `folder`, over all transcripts of the batch that are there as JSON. An empty
/// list with nothing looked at where there are none. `stopped` is polled.
Result<ReviewList> review_batch(std::span<const BatchJob> jobs, const std::filesystem::path& folder, ReviewPages& pages,
                                const AudioChoice& audio, std::function<bool()> stopped);

}  // namespace tutti
