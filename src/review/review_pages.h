#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "diarize/speaker_names.h"
#include "jobs/publish.h"
#include "jobs/store.h"
#include "jobs/store_url.h"
#include "review/review.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// Writes the pages of a review. The store knows those that it wrote: a page that is the user's by now is kept as a
/// transcript is, and the new one goes beside it. One thread.
class ReviewPages {
 public:
  /// `objects`: by which pages and transcripts in buckets are reached.
  ReviewPages(StoreUrl store, Existing existing, std::shared_ptr<ObjectOutputs> objects = nullptr)
      : store_(std::move(store)), existing_(existing), objects_(std::move(objects)) {}

  Result<void> write(const std::filesystem::path& page, std::string_view content);
  /// Where the latest one is.
  const std::filesystem::path& last() const { return last_; }
  ObjectOutputs* objects() const { return objects_.get(); }

 private:
  StoreUrl store_;
  Existing existing_;
  std::shared_ptr<ObjectOutputs> objects_;
  std::unique_ptr<OutputRecords> records_{};
  std::filesystem::path last_{};
};

/// Writes review.csv and review.html into `folder`, over all transcripts of the batch that are there as JSON. An empty
/// list with nothing looked at where there are none. `stopped` is polled.
Result<ReviewList> review_batch(std::span<const BatchJob> jobs, const std::filesystem::path& folder, ReviewPages& pages,
                                const AudioChoice& audio, std::function<bool()> stopped);

/// Reads "SPEAKER_01=Anna,SPEAKER_02=Bert", the value of `names`. Fault::usage where it is something else, or names a
/// speaker twice.
Result<SpeakerNames> parse_speaker_names(const std::string& list);

/// What became of the outputs of a recording that have old names of its speakers.
struct RenamedOutputs {
  std::vector<std::filesystem::path> renamed{};
  std::vector<std::filesystem::path> left{};  // not as Tutti wrote them: they are the user's, and stay as they are
};

/// Gives the speakers of a recording new names, in its transcript and in the outputs beside it. `transcript`: its JSON,
/// NAME.json; outputs are NAME.txt, NAME.srt, NAME.vtt, NAME.rttm and where the store has put others of its job. Only
/// files that the store knows as its own, or that show it themselves (is_own_output), are written, each whole. The
/// transcript is the last one: after an error the same call goes on. Fault::usage for names that cannot be given;
/// nothing is written then.
Result<RenamedOutputs> rename_speakers(const std::filesystem::path& transcript, const SpeakerNames& names,
                                       const StoreUrl& store);

}  // namespace tutti
