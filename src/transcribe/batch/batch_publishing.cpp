#include "base/log_owner.h"
#include "transcribe/batch/batch_files.h"

namespace tutti {

// How what a batch has transcribed becomes files, also on a disk that is full, or not to be written to, for a while.

namespace {

constexpr std::chrono::seconds kRetryKeptEvery{1};

Bytes size_of(const std::vector<OutputContent>& contents) {
  Bytes bytes{};
  for (const auto& output : contents) bytes.value += static_cast<std::int64_t>(output.content.size());
  return bytes;
}

}  // namespace

void BatchFiles::space_changed() {
  const Lock lock(mutex_);
  tell_held_back(lock);
  changed_.notify_all();
}

BatchEnd BatchFiles::end_of(const BatchAttempt& attempt, const std::string& device) const {
  return {.name = attempt.job->spec.name,
          .device = device,
          .audio = attempt.length,
          .worker = attempt.worker,
          .attempts = attempt.lease.attempt};
}

Result<void> BatchFiles::publish(TranscribedFile& file) {
  BatchAttempt& attempt = at(file.outcome.index);
  const LogOwner owner(worker_name(attempt.worker));
  if (attempt.settled) return not_wanted();
  file.outcome.outputs = attempt.job->outputs();
  std::vector<OutputContent> contents;
  for (std::size_t i = 0; i < file.outcome.outputs.size(); ++i) {
    auto content = format_transcript(file.transcript, attempt.job->formats[i], options_.run.writer);
    if (!content) return tl::unexpected(content.error());
    contents.push_back({file.outcome.outputs[i], std::move(*content)});
  }
  {
    const Lock lock(mutex_);
    Entry& entry = entries_.at(attempt.lease.key.job);
    entry.requested = file.outcome.requested;
    entry.without_speech = file.outcome.without_speech;
  }
  const auto use = attempt.engine ? attempt.engine->use() : JobEngine::Use{};
  return publish_contents(attempt, contents, use, false);
}

/// Where they cannot be written now, it waits with them in memory; or, once they could be recorded, leaves them in
/// `kept`, where they outlast the run.
Result<void> BatchFiles::publish_contents(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                          const JobEngine::Use& use, bool copied) {
  {
    const Lock lock(mutex_);
    if (attempt.settled) return not_wanted();
    attempt.publishing = true;
  }
  const AttemptUse used{.device = use.device, .audio = copied ? Seconds(0) : attempt.length, .busy = use.busy};
  const Bytes needed = size_of(contents);
  const PublishFolders window_capacity{options_.staging, options_.kept, options_.existing};
  auto published = output_space_.retry_until_written(
      needed, [&] { return publish_outputs(store_, attempt.lease, contents, used, window_capacity); });
  if (!published) return tl::unexpected(published.error());
  if (!settle(attempt)) return not_wanted();
  attempt.engine.reset();
  if (!published->held) {
    again(attempt.lease.key.job, kLookAgain);
    return not_wanted();
  }
  if (const auto& why = published->left_staged; why && output_space_.would_mend(*why)) {
    keep({attempt.index, use, copied, output_space_.wait(needed, *why)});
    return not_wanted();
  } else if (why) {
    leave_staged(attempt, *why, use, copied);
    return not_wanted();
  }
  finish(attempt, use, copied, std::move(published->kept));
  return {};
}

void BatchFiles::keep(KeptResult result) {
  const Lock lock(mutex_);
  if (kept_.empty()) retry_kept_at_ = Clock::real().now() + kRetryKeptEvery;
  kept_.push_back(std::move(result));
  changed_.notify_all();
}

/// For one thread at a time: the one that claims jobs, which has nothing else to do meanwhile, and when it has ended
/// the one that ends the run.
void BatchFiles::publish_kept(bool last_time) {
  auto kept = [&] {
    const Lock lock(mutex_);
    return std::exchange(kept_, {});
  }();
  std::optional<Error> held;  // the first one's: it would be every one's
  for (auto& result : kept) {
    BatchAttempt& attempt = at(result.index);
    auto placed = held ? tl::unexpected(*held) : put_outputs_in_place(store_, attempt.lease.key.job, options_.existing);
    if (!held && !placed && !last_time && output_space_.would_mend(placed.error())) held = placed.error();
    if (held) {
      keep(std::move(result));
    } else {
      result.waiting.reset();
      if (placed)
        finish(attempt, result.use, result.copied, std::move(*placed));
      else
        leave_staged(attempt, placed.error(), result.use, result.copied);
    }
  }
  const Lock lock(mutex_);
  retry_kept_at_ = Clock::real().now() + kRetryKeptEvery;
}

void BatchFiles::leave_staged(BatchAttempt& attempt, const Error& error, const JobEngine::Use& use, bool copied) {
  {
    const Lock lock(mutex_);
    Entry& entry = entries_.at(attempt.lease.key.job);
    entry.left_staged = error.text();
    if (!copied) entry.use = use;
  }
  tell_failure(attempt, error, "");
}

/// Also what an earlier run left: there was no space when this run began, and now there may be.
void BatchFiles::publish_left_staged() {
  std::vector<JobId> left;
  {
    const Lock lock(mutex_);
    for (const auto& [id, entry] : entries_)
      if (!entry.left_staged.empty()) left.push_back(id);
  }
  for (const JobId id : left) {
    auto placed = put_outputs_in_place(store_, id, options_.existing);
    if (!placed) continue;
    const Lock lock(mutex_);
    Entry& entry = entries_.at(id);
    entry.left_staged.clear();
    entry.kept_files = std::move(*placed);
    tally_.placed(entry);
  }
}

void BatchFiles::finish(BatchAttempt& attempt, const JobEngine::Use& use, bool copied,
                        std::vector<KeptFile> kept_files) {
  BatchEnd over = end_of(attempt, use.device);
  {
    const Lock lock(mutex_);
    Entry& entry = entries_.at(attempt.lease.key.job);
    if (!copied) entry.use = use;
    if (!copied) over.audio = entry.requested;
    entry.kept_files = kept_files;
    tally_.count_done(entry);
  }
  over.copied = copied;
  over.kept_files = std::move(kept_files);
  over.busy = use.busy;
  const Lock telling(telling_);  // counted and reported in one step: no count is reported twice, and none left out
  report_starts_before_end(telling, attempt.lease.key.job);
  end(attempt.lease.key.job, &BatchCounts::done);
  observer_.on_done(over, counts());
}

}  // namespace tutti
