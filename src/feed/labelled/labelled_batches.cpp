#include "feed/labelled/labelled_batches.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

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
  LabelledBatches batches(std::move(options));
  if (position.empty()) return batches;
  std::istringstream text(position);
  std::uint64_t key = 0;
  text >> key >> batches.epoch_ >> batches.cursor_ >> batches.index_;
  const auto unreadable =
      fail(Fault::corrupt, "the checkpoint's position in the data cannot be read: '" + position + "'");
  if (!text) return unreadable;
  if (key != key_of(batches.options_))
    return fail(Fault::usage,
                "the checkpoint was trained on other files or labels than the set now holds (" +
                    std::to_string(batches.options_.rows) + " samples), or with another batch size or seed",
                "Go on with the data and the settings that the training began with");
  if (batches.epoch_ < 0 || batches.cursor_ < 0 || batches.cursor_ > batches.options_.rows) return unreadable;
  return batches;
}

std::string LabelledBatches::position() const {
  std::ostringstream text;
  text << key_of(options_) << ' ' << epoch_ << ' ' << cursor_ << ' ' << index_;
  return text.str();
}

/// The rows behind the cursor that make a batch. Rows of like length: of the next kPool batches' rows, sorted; these
/// batches come in a random order.
std::vector<std::int64_t> LabelledBatches::rows_here() const {
  constexpr std::int64_t kPool = 8;
  const auto size = options_.batch_size;
  const auto key = mixed({options_.seed, static_cast<std::uint64_t>(epoch_), digest("rows")});
  const Permutation order(options_.rows, key);
  const auto in_order = [&](std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(count, options_.rows - first)));
    order.copy(first, rows);
    return rows;
  };
  if (options_.lengths.empty()) return in_order(cursor_, size);
  const auto pool = cursor_ / (kPool * size) * kPool * size;
  auto rows = in_order(pool, kPool * size);
  std::ranges::sort(rows, {},
                    [&](std::int64_t row) { return std::pair(options_.lengths[static_cast<std::size_t>(row)], row); });
  auto batch = (cursor_ - pool) / size;
  if (std::ssize(rows) == kPool * size)
    batch = Permutation(kPool, mixed({key, static_cast<std::uint64_t>(pool)})).at(batch);
  const auto first = rows.begin() + batch * size;
  return {first, first + std::min(size, rows.end() - first)};
}

std::optional<Batch> LabelledBatches::next() {
  if (cursor_ >= options_.rows) {
    ++epoch_;
    cursor_ = 0;
  }
  if (options_.rows == 0 || (options_.epochs > 0 && epoch_ >= options_.epochs)) return std::nullopt;
  Batch batch{.index = index_++, .epoch = epoch_, .content = rows_here()};
  cursor_ += batch.size();
  batch.position = position();
  return batch;
}

}  // namespace tutti
