#include <algorithm>
#include <utility>

#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "feed/set_feed_source.h"

namespace tutti {
namespace {

class LabelledSource final : public SetFeed::Source {
 public:
  LabelledSource(SetFeedOptions options, std::shared_ptr<const LabelledSet> set, LabelledBatches batches)
      : options_(std::move(options)), set_(std::move(set)), batches_(std::move(batches)) {
    facts = {.rows = set_->rows(),
             .n_mels = set_->geometry().mel.n_mels,
             .rate = static_cast<int>(set_->geometry().mel.rate.value),
             .labels = set_->labels()};
  }

  std::optional<SetBatch> next() override {
    const auto batch = batches_.next();
    if (!batch) return std::nullopt;
    return made(*batch, rows_of_rank(batch->rows(), options_));
  }

 private:
  SetBatch made(const Batch& batch, const std::vector<std::int64_t>& rows) const {
    SetBatch made = set_batch(batch, std::ssize(rows));
    made.n_mels = set_->geometry().mel.n_mels;
    made.frames = set_->geometry().frames();
    const std::int64_t values = set_->row_values();
    made.features.resize(static_cast<std::size_t>(made.rows * values));
    auto out = made.features.begin();
    for (const std::int64_t row : rows) {
      const auto mel = set_->mel().subspan(static_cast<std::size_t>(row * values), static_cast<std::size_t>(values));
      out = std::ranges::transform(mel, out, from_half).out;
      made.labels.push_back(set_->label_of_file(set_->file_of(row)));
      made.ids.push_back(set_->id_of(row));
    }
    return made;
  }

  SetFeedOptions options_;
  std::shared_ptr<const LabelledSet> set_;
  LabelledBatches batches_;
};

}  // namespace

Result<SetFeed> SetFeed::open_labelled(const SetFeedOptions& options) {
  TRY(check(options));
  const SetPart part = part_of(options.part);
  if (part == SetPart::none)
    return fail(Fault::usage, "part: expected training, validation or testing, found '" + options.part + "'");
  std::error_code ignored;
  auto set = TRY(LabelledSet::open(std::filesystem::is_directory(options.set, ignored) ? set_file(options.set, part)
                                                                                       : options.set));
  if (set->rows() < options.ranks)
    return fail(Fault::corrupt, options.set.string() + ": has " + std::to_string(set->rows()) + " rows, too few for " +
                                    std::to_string(options.ranks) + " ranks");
  auto batches = TRY(LabelledBatches::open({.rows = set->rows(),
                                            .batch_size = options.batch_size * options.ranks,
                                            .epochs = options.epochs,
                                            .seed = options.seed,
                                            .fingerprint = set->fingerprint()},
                                           options.resume));
  return SetFeed(std::make_unique<LabelledSource>(options, std::move(set), std::move(batches)));
}

}  // namespace tutti
