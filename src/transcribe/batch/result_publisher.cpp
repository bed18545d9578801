#include "transcribe/batch/result_publisher.h"

#include <utility>

namespace tutti {
namespace {

constexpr std::chrono::seconds kRetryKeptEvery{1};

Bytes size_of(const std::vector<OutputContent>& contents) {
  Bytes bytes{};
  for (const auto& output : contents) bytes.value += static_cast<std::int64_t>(output.content.size());
  return bytes;
}

}  // namespace

Result<void> ResultPublisher::publish(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                      const JobEngine::Use& use, bool copied) {
  {
    const Lock lock(state_.mutex);
    if (attempt.settled) return not_wanted();
    attempt.publishing = true;
  }
  const AttemptUse used{.device = use.device, .audio = copied ? Seconds(0) : attempt.length, .busy = use.busy};
  const Bytes needed = size_of(contents);
  const PublishFolders folders{options_.staging, options_.kept, options_.existing};
  auto published = state_.spaces.output.retry_until_written(
      needed, [&] { return publish_outputs(store_, store_, attempt.lease, contents, used, folders); });
  if (!published) return tl::unexpected(published.error());
  if (!leases_.settle(attempt)) return not_wanted();
  attempt.engine.reset();
  if (!published->held) {
    queue_.again(attempt.lease.key.job, LeaseRenewer::kCheckAgain);
    return not_wanted();
  }
  if (const auto& why = published->left_staged; why && state_.spaces.output.is_curable(*why)) {
    keep({attempt.index, use, copied, state_.spaces.output.wait(needed, *why)});
    return not_wanted();
  } else if (why) {
    leave_staged(attempt, *why, use, copied);
    return not_wanted();
  }
  reporter_.done(attempt, {use, copied, std::move(published->kept)});
  return {};
}

void ResultPublisher::keep(KeptResult result) {
  const Lock lock(state_.mutex);
  if (!state_.retry_kept_at) state_.retry_kept_at = Clock::real().now() + kRetryKeptEvery;
  kept_.push_back(std::move(result));
  state_.changed.notify_all();
}

void ResultPublisher::publish_kept(bool last_time) {
  auto kept = [&] {
    const Lock lock(state_.mutex);
    state_.retry_kept_at.reset();
    return std::exchange(kept_, {});
  }();
  std::optional<Error> held;  // the first one's: it would be every one's
  for (auto& result : kept) {
    const BatchAttempt& attempt = leases_.at(result.index);
    auto placed = held ? tl::unexpected(*held) : put_outputs_in_place(store_, attempt.lease.key.job, options_.existing);
    if (!held && !placed && !last_time && state_.spaces.output.is_curable(placed.error())) held = placed.error();
    if (held) {
      keep(std::move(result));
    } else {
      result.waiting.reset();
      if (placed)
        reporter_.done(attempt, {result.use, result.copied, std::move(*placed)});
      else
        leave_staged(attempt, placed.error(), result.use, result.copied);
    }
  }
}

void ResultPublisher::publish_all_left() {
  publish_kept(true);
  publish_left_staged();
}

void ResultPublisher::leave_staged(const BatchAttempt& attempt, const Error& error, const JobEngine::Use& use,
                                   bool copied) {
  {
    const Lock lock(state_.mutex);
    BatchEntry& entry = state_.entry(attempt);
    entry.left_staged = error.text();
    if (!copied) entry.use = use;
  }
  reporter_.failed(attempt, error, "");
}

/// Also what an earlier run left: there was no space when this run began, and now there may be.
void ResultPublisher::publish_left_staged() {
  std::vector<JobId> left;
  {
    const Lock lock(state_.mutex);
    for (const auto& [id, entry] : state_.entries)
      if (!entry.left_staged.empty()) left.push_back(id);
  }
  for (const JobId id : left) {
    auto placed = put_outputs_in_place(store_, id, options_.existing);
    if (!placed) continue;
    const Lock lock(state_.mutex);
    BatchEntry& entry = state_.entries.at(id);
    entry.left_staged.clear();
    entry.kept_files = std::move(*placed);
    state_.tally.placed(entry);
  }
}

}  // namespace tutti
