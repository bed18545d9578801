#include <algorithm>
#include <utility>

#include "base/field_names.h"
#include "feed/set_feed_source.h"
#include "public/tutti/feed.h"

namespace tutti {

SetFeed::SetFeed(std::unique_ptr<Source> source) : source_(std::move(source)) {}
SetFeed::SetFeed(SetFeed&&) noexcept = default;
SetFeed& SetFeed::operator=(SetFeed&&) noexcept = default;
SetFeed::~SetFeed() = default;

std::optional<SetBatch> SetFeed::next() {
  return source_->next();
}

const SetFacts& SetFeed::facts() const {
  return source_->facts;
}

Result<void> check(const SetFeedOptions& options) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto expected = [](const char* name, std::int64_t value, const char* what) {
    return fail(Fault::usage, field(name) + " " + std::to_string(value) + ": expected " + what);
  };
  if (options.batch_size < 1 || options.batch_size > kMost)
    return expected("batch_size", options.batch_size, "1 to 1048576");
  if (options.epochs < 0) return expected("epochs", options.epochs, "0 or more");
  if (options.ranks < 1 || options.ranks > kMost) return expected("world_size", options.ranks, "1 or more");
  if (options.rank < 0 || options.rank >= options.ranks) return expected("rank", options.rank, "0 to world_size - 1");
  return {};
}

std::vector<std::int64_t> rows_of_rank(const std::vector<std::int64_t>& rows, const SetFeedOptions& options) {
  const std::int64_t size = std::ssize(rows), own = (size + options.ranks - 1) / options.ranks;
  std::vector<std::int64_t> mine;
  for (std::int64_t i = 0; i < own; ++i)
    mine.push_back(rows[static_cast<std::size_t>((i * options.ranks + options.rank) % size)]);
  return mine;
}

SetBatch set_batch(const Batch& batch, std::int64_t rows) {
  return {.index = batch.index, .epoch = batch.epoch, .rows = rows, .position = batch.position};
}

}  // namespace tutti
