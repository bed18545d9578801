#include "transcribe/batch/result_publisher.h"

#include <utility>

#include "base/log_owner.h"
#include "base/try.h"
#include "transcribe/done_command.h"
#include "transcript/output_text.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kRetryKeptEvery{1};

}  // namespace

Result<void> ResultPublisher::publish(TranscribedFile& file) {
  BatchAttempt& attempt = parts_.attempts.at(file.outcome.index);
  const LogOwner owner(worker_name(attempt.worker));
  if (attempt.has_settled()) return not_wanted();
  file.outcome.outputs = attempt.job.outputs();
  std::vector<OutputContent> contents;
  for (std::size_t i = 0; i < file.outcome.outputs.size(); ++i) {
    auto content = TRY(format_output(file, attempt.job.formats[i], parts_.options.writer));
    contents.push_back({file.outcome.outputs[i], std::move(content)});
  }
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) {
    entry.requested = file.outcome.requested;
    entry.without_speech = file.outcome.without_speech;
    entry.replacements = file.outcome.replacements;
  });
  return publish(attempt, contents, attempt.use());
}

Result<void> ResultPublisher::publish_copy(BatchAttempt& attempt, const std::vector<OutputContent>& contents) {
  const bool has_text = contents.empty() || output_has_text(contents.front().content, attempt.job.formats.front());
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) { entry.without_speech = !has_text; });
  return publish(attempt, contents, std::nullopt);
}

Result<void> ResultPublisher::publish(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                      std::optional<JobEngine::Use> use) {
  attempt.set_publishing();
  const AttemptUse used =
      use ? AttemptUse{.device = use->device, .audio = attempt.length(), .busy = use->busy} : AttemptUse{};
  // A remote runner writes for the folders of others; the batch that sweeps such a folder finds what is staged in it.
  const bool in_bucket = is_object(attempt.job.spec.key);
  const PublishFolders folders{
      in_bucket ? std::filesystem::path(attempt.job.spec.batch) / ".tmp" : parts_.options.staging, parts_.options.kept,
      parts_.options.existing};
  auto published = TRY(parts_.leases.publish(attempt.lease, contents, used, folders));
  if (!parts_.attempts.settle(attempt)) return not_wanted();
  attempt.release_engine();
  if (!published.held) {
    parts_.queue.again(attempt.id(), RunParts::kCheckAgain);
    return not_wanted();
  }
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) {
    if (use) entry.use = std::move(use);
  });
  DiskSpaceWait& space = parts_.spaces.output;
  if (const auto& why = published.left_staged; why && space.is_curable(*why)) {
    keep({&attempt, space.wait(size_of(contents), *why)});
    return not_wanted();
  } else if (why) {
    leave_staged(attempt, *why);
    return not_wanted();
  }
  finish(attempt, std::move(published.kept));
  return {};
}

void ResultPublisher::finish(const BatchAttempt& attempt, std::vector<KeptFile> kept_files) {
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) { entry.kept_files = std::move(kept_files); });
  run_on_done(attempt.job);
  reporter_.done(attempt);
}

void ResultPublisher::run_on_done(const BatchJob& job) {
  if (parts_.options.on_done)
    parts_.options.on_done->run(job.spec.name, job.spec.input, job.outputs(), [&] { return !aborted_; });
}

void ResultPublisher::keep(Kept kept) {
  kept_.with([&](auto& all) { all.push_back(std::move(kept)); });
  parts_.queue.publish_kept_at(Clock::real().now() + kRetryKeptEvery);
}

void ResultPublisher::publish_kept(bool last_time) {
  auto all = kept_.with([](auto& kept) { return std::exchange(kept, {}); });
  const DiskSpaceWait& space = parts_.spaces.output;
  std::optional<Error> held;  // the first one's: it would be every one's
  for (auto& kept : all) {
    const BatchAttempt& attempt = *kept.attempt;
    auto placed = held ? tl::unexpected(*held) : put_outputs_in_place(records_, attempt.id(), parts_.options.existing);
    if (!held && !placed && !last_time && space.is_curable(placed.error())) held = placed.error();
    if (held) {
      keep(std::move(kept));
      continue;
    }
    kept.waiting.reset();
    if (!placed) {
      leave_staged(attempt, placed.error());
      continue;
    }
    finish(attempt, std::move(*placed));
  }
}

void ResultPublisher::publish_all_left() {
  publish_kept(true);
  publish_left_staged();
}

void ResultPublisher::leave_staged(const BatchAttempt& attempt, const Error& error) {
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) { entry.left_staged = error.text(); });
  reporter_.failed(attempt, error, "");
}

/// Also what an earlier run left: there was no space when this run began, and now there may be.
void ResultPublisher::publish_left_staged() {
  for (const JobId id : parts_.jobs.left_staged()) {
    auto placed = put_outputs_in_place(records_, id, parts_.options.existing);
    if (!placed) continue;
    const BatchJob* job = nullptr;
    parts_.jobs.with(id, [&](BatchEntry& entry, BatchTally& tally) {
      job = entry.job;
      entry.left_staged.clear();
      entry.kept_files = std::move(*placed);
      tally.placed(entry);
    });
    if (job) run_on_done(*job);
  }
}

}  // namespace tutti
