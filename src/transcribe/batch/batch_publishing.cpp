#include "transcribe/batch/batch_files.h"

namespace tutti {

// How what a batch has transcribed becomes files, also on a disk that is full for a while.

namespace {

tl::unexpected<Error> not_wanted() {
  return fail(Fault::cancelled, "not to be worked on any more");
}

bool is_out_of_room(const std::optional<Error>& error) {
  return error && error->fault == Fault::exhausted;
}

}  // namespace

void BatchFiles::room_changed() {
  const Lock lock(mutex_);
  const auto now = Clock::real().now();
  const auto due = order_.wake_at(now);
  tell_held_back(lock, !over_ && due && *due <= now);
  changed_.notify_all();
}

BatchEnd BatchFiles::end_of(const BatchAttempt& attempt) const {
  return {.name = attempt.task->spec.name,
          .device = attempt.lease.task.device,
          .audio = attempt.length,
          .elapsed = pool_.view().elapsed - attempt.started,
          .attempts = attempt.lease.attempt};
}

Result<void> BatchFiles::publish(TranscribedFile& file) {
  BatchAttempt& attempt = at(file.outcome.index);
  if (attempt.settled) return not_wanted();
  std::vector<OutputContent> contents;
  for (const auto& output : attempt.task->outputs) {
    const auto format = parse_formats(output.extension().string().substr(1)).value().front();
    auto content = format_transcript(file.transcript, format, options_.run.writer);
    if (!content) return tl::unexpected(content.error());
    contents.push_back({output, std::move(*content)});
  }
  const auto use = attempt.engine ? attempt.engine->use() : PoolTaskEngine::Use{};
  file.outcome.outputs = attempt.task->outputs;
  return publish_contents(attempt, contents, use, false);
}

/// Writes and records them, and waits for room where there is none: in memory, or, once they could be recorded, in
/// `kept`, from where they are put in place. Then a run that ends meanwhile leaves them to the next one's sweep.
Result<Published> BatchFiles::write(const BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                    const AttemptUse& use) {
  Bytes needed{};
  for (const auto& content : contents) needed.value += static_cast<std::int64_t>(content.content.size());
  auto published = room_.patiently(
      needed, [&] { return publish_outputs(store_, attempt.lease, options_.staging, contents, use, options_.kept); });
  if (!published || !is_out_of_room(published->left_staged)) return published;
  const auto placed = room_.patiently(needed, [&, first = true]() mutable -> Result<void> {
    if (std::exchange(first, false)) return tl::unexpected(*published->left_staged);
    return put_outputs_in_place(store_, attempt.lease.key.task);
  });
  if (placed)
    published->left_staged.reset();
  else if (placed.error().fault != Fault::cancelled)
    published->left_staged = placed.error();
  return published;
}

Result<void> BatchFiles::publish_contents(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                          const PoolTaskEngine::Use& use, bool copied) {
  {
    const Lock lock(mutex_);
    if (attempt.settled) return not_wanted();
    attempt.publishing = true;
  }
  const auto published =
      write(attempt, contents, {.device = use.device, .audio = copied ? Seconds(0) : attempt.length, .busy = use.busy});
  if (!published) return tl::unexpected(published.error());
  if (!settle(attempt)) return not_wanted();
  attempt.engine.reset();
  if (!published->held) {
    again(attempt.lease.key.task, kLookAgain);
    return not_wanted();
  }
  if (published->left_staged) {
    {
      const Lock lock(mutex_);
      entries_.at(attempt.lease.key.task).left_staged = published->left_staged->text();
    }
    tell_failure(attempt, *published->left_staged);
    return not_wanted();
  }
  {
    const Lock lock(mutex_);
    ++done_now_;
    if (!copied) audio_done_ += attempt.length;
    if (!copied) entries_.at(attempt.lease.key.task).use = use;
  }
  end(attempt.lease.key.task, &BatchCounts::done);
  BatchEnd over = end_of(attempt);
  over.copied = copied;
  if (!use.device.empty()) over.device = use.device;
  const std::lock_guard telling(telling_);
  observer_.on_done(over, counts());
  return {};
}

}  // namespace tutti
