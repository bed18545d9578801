#include "feed/labelled/labelled_batches.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/random/counter_random.h"
#include "feed/sample_order.h"

namespace tutti {
namespace {

/// What a position fits.
std::uint64_t key_of(const LabelledBatchOptions& o) {
  return mixed({o.fingerprint, static_cast<std::uint64_t>(o.rows), static_cast<std::uint64_t>(o.batch_size), o.seed});
}

}  // namespace

std::int64_t batch_of(std::int64_t rows, std::int64_t most, std::int64_t least_steps) {
  return std::clamp<std::int64_t>((rows + least_steps - 1) / least_steps, 1, most);
}

Result<LabelledBatches> LabelledBatches::open(LabelledBatchOptions options, const std::string& position) {
  LabelledBatches batches(options);
  if (position.empty()) return batches;
  std::istringstream text(position);
  std::uint64_t key = 0;
  text >> key >> batches.epoch_ >> batches.cursor_ >> batches.index_;
  if (!text || batches.epoch_ < 0 || batches.cursor_ < 0 || batches.cursor_ > options.rows)
    return fail(Fault::corrupt, "the checkpoint's position in the data cannot be read: '" + position + "'");
  if (key != key_of(options))
    return fail(Fault::usage, "the checkpoint was trained on another set, or with another batch size or seed",
                "Go on with the data and the settings that the training began with");
  return batches;
}

std::string LabelledBatches::position() const {
  std::ostringstream text;
  text << key_of(options_) << ' ' << epoch_ << ' ' << cursor_ << ' ' << index_;
  return text.str();
}

std::optional<Batch> LabelledBatches::next() {
  if (cursor_ >= options_.rows) {
    ++epoch_;
    cursor_ = 0;
  }
  if (options_.rows == 0 || (options_.epochs > 0 && epoch_ >= options_.epochs)) return std::nullopt;
  const Permutation order(options_.rows, mixed({options_.seed, static_cast<std::uint64_t>(epoch_), digest("rows")}));
  const auto count = std::min(options_.batch_size, options_.rows - cursor_);
  Batch batch{.index = index_++, .epoch = epoch_};
  batch.rows.resize(static_cast<std::size_t>(count));
  for (auto& row : batch.rows) row = order.at(cursor_++);
  batch.position = position();
  return batch;
}

}  // namespace tutti
