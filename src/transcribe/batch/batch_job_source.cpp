#include "transcribe/batch/batch_job_source.h"

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/log_owner.h"
#include "base/numbers.h"
#include "device/machine.h"
#include "transcribe/inputs/recording_digest.h"
#include "transcribe/output_plan.h"
#include "transcript/output_text.h"

namespace tutti {
namespace {

/// On disk, at the model's rate.
Bytes decoded_size(Seconds length) {
  return {samples_in(length, kModelRate) * static_cast<std::int64_t>(sizeof(std::int16_t))};
}

/// Where no waiting helps.
Error without_end(const Error& error, Bytes needed, Bytes total) {
  return {Fault::unsupported,
          error.what + "; decoded it takes " + bytes_text(needed) + ", and that disk holds " + bytes_text(total) +
              " in all",
          "Set TMPDIR to a folder on a larger disk"};
}

/// The file was there when it was added to the batch, or its folder is missing, too. More often a share is away for a
/// while than a recording is deleted.
bool may_come_back(const JobSpec& spec) {
  std::error_code why;
  const std::filesystem::path input = spec.input;
  if (std::filesystem::exists(input, why)) return false;
  return spec.identity != InputIdentity{} || !std::filesystem::exists(input.parent_path(), why);
}

FailureClass failure_class(const Error& error, const JobSpec& spec) {
  // The pool has tried other devices: a fault that is still the device's is the recording's.
  if (error.fault == Fault::device) return FailureClass::permanent;
  if (error.fault == Fault::missing && may_come_back(spec)) return FailureClass::transient;
  return failure_class_of(error);
}

}  // namespace

BatchJobSource::BatchJobSource(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer)
    : options_(options),
      store_(store),
      pool_(pool),
      spaces_(options, [this] { queue_.space_changed(); }),
      state_(spaces_),
      queue_(options, store.now(), state_, pool),
      leases_(store, state_, queue_),
      reporter_(options, store, pool, observer, state_, queue_),
      publisher_(options, store, state_, queue_, leases_, reporter_) {}

void BatchJobSource::serve(const ModelContext* model) {
  const Lock lock(state_.mutex);
  model_ = model;
  state_.changed.notify_all();
}

void BatchJobSource::reached(std::size_t index, Seconds position) {
  leases_.at(index).position = position.count();
}

void BatchJobSource::abort() {
  aborted_ = true;
  spaces_.close();
}

void BatchJobSource::release(const std::string& reason) {
  publisher_.publish_all_left();
  leases_.release_all(reason);
}

RunSnapshot BatchJobSource::snapshot() const {
  return state_.snapshot();
}

std::optional<ClaimedFile> BatchJobSource::next() {
  for (;;) {
    const RunQueue::NextStep step = queue_.wait();
    if (step.publish_kept) {
      publisher_.publish_kept();
    } else if (!step.job) {
      return {};
    } else if (spaces_.output.expect_some()) {
      if (auto claimed = claim(*step.job)) return claimed;
    } else {
      queue_.again(*step.job, Seconds(0));
      spaces_.output.await_some();
    }
  }
}

/// None: another process has it; or a user has stopped the run meanwhile, in answer to the question about another
/// recording.
std::optional<ClaimedFile> BatchJobSource::claim(JobId id) {
  auto lease = leases_.claim(id);
  if (!lease) return {};
  const std::size_t index = leases_.begin(id, *std::move(lease));
  if (reporter_.may_begin()) return ClaimedFile{index, leases_.at(index).job->spec.input};
  failed(index, {Fault::cancelled, "the run was stopped before it began", ""});
  return {};
}

Result<void> BatchJobSource::begin(std::size_t index) {
  BatchAttempt& attempt = leases_.at(index);
  const LogOwner owner(worker_name(attempt.worker));
  if (attempt.settled) return not_wanted();
  if (auto named = expect_names(attempt.job->outputs()); !named) return named;
  std::vector<JobOutput> same = attempt.lease.same_outputs;
  if (same.empty()) {
    // The store is queried even where the content is known already: another recording with it may be in work by now.
    const auto content = attempt.lease.job.sha256.empty() ? sha256_of_recording(attempt.job->spec.input, aborted_)
                                                          : Result<std::string>(attempt.lease.job.sha256);
    if (!content) return tl::unexpected(content.error());
    const auto check =
        spaces_.output.retry_until_written({}, [&] { return store_.content_known(attempt.lease.key, *content); });
    if (!check) return tl::unexpected(check.error());
    if (check->what == ContentCheck::What::wait || check->what == ContentCheck::What::lost) {
      if (leases_.settle(attempt)) queue_.again(attempt.lease.key.job, LeaseRenewer::kCheckAgain);
      return not_wanted();
    }
    same = check->same_outputs;
  }
  if (same.empty()) return {};
  const auto copies = copy_of(same, attempt.job->outputs());
  if (!copies) return {};  // not whole any more: then the work is done again
  {
    const Lock lock(state_.mutex);
    state_.entry(attempt).without_speech =
        !copies->empty() && !output_has_text(copies->front().content, attempt.job->formats.front());
  }
  if (auto published = publisher_.publish(attempt, *copies, {}, true); !published) return published;
  return not_wanted();
}

/// That the disk for decoded audio is full, or not to be written to, is no recording's fault: it is waited for.
Result<Recording> BatchJobSource::decoded(std::size_t index, const Decode& decode) {
  BatchAttempt& attempt = leases_.at(index);
  const LogOwner owner(worker_name(attempt.worker));
  const auto [length, declared_length] = [&] {
    const Lock lock(state_.mutex);
    return std::pair(attempt.length, state_.entry(attempt).declared_length);
  }();
  auto whole = spaces_.spool.retry_until_written(
      decoded_size(length), [&, declared_length = declared_length]() -> Result<Recording> {
        if (attempt.settled) return not_wanted();
        auto recording = decode();
        attempt.no_space = !recording && spaces_.spool.is_curable(recording.error());
        if (!attempt.no_space || !declared_length || recording.error().fault != Fault::full) return recording;
        const auto disk = disk_space(temporary_folder());
        const Bytes needed = decoded_size(*declared_length);
        if (disk && needed > disk->total) recording.error() = without_end(recording.error(), needed, disk->total);
        return recording;
      });
  if (whole) add_remarks(attempt, *whole);
  return whole;
}

/// It is transcribed all the same, but must not come out shorter in silence.
void BatchJobSource::add_remarks(const BatchAttempt& attempt, const Recording& recording) {
  for (const auto& remark : recording.remarks()) log(Level::warning, attempt.job->spec.name + ": " + remark);
  const Lock lock(state_.mutex);
  BatchEntry& entry = state_.entry(attempt);
  entry.losses = recording.losses();
  entry.notes = recording.notes();
}

Result<void> BatchJobSource::on_audio_decoded(std::size_t index, Seconds length) {
  BatchAttempt& attempt = leases_.at(index);
  {
    const Lock lock(state_.mutex);
    if (attempt.settled) return not_wanted();
    attempt.length = length;
    attempt.decoded = true;
    BatchEntry& entry = state_.entry(attempt);
    state_.tally.open.remove(entry);
    entry.audio = length;
    state_.tally.open.add(entry);
  }
  return spaces_.output.retry_until_written(
      {}, [&] { return store_.set_length(attempt.lease.key, length, LengthSource::measured); });
}

const TranscriptionContext* BatchJobSource::context(std::size_t index) {
  BatchAttempt& attempt = leases_.at(index);
  Lock lock(state_.mutex);
  state_.changed.wait(lock, [&] { return model_.has_value(); });
  if (!*model_ || attempt.settled) return nullptr;
  if (!attempt.context) {
    const BatchEntry& entry = state_.entry(attempt);
    attempt.engine = pool_.engine(queue_.pool_job(attempt.lease.key.job, entry));
    attempt.engine->when_granted([this] { reporter_.started(); });
    attempt.engine->correct_length(attempt.length);
    attempt.context.emplace((*model_)->context(*attempt.engine, options_.run, *on_progress_, true));
  }
  return &*attempt.context;
}

Result<void> BatchJobSource::publish(TranscribedFile& file) {
  BatchAttempt& attempt = leases_.at(file.outcome.index);
  const LogOwner owner(worker_name(attempt.worker));
  if (attempt.settled) return not_wanted();
  file.outcome.outputs = attempt.job->outputs();
  std::vector<OutputContent> contents;
  for (std::size_t i = 0; i < file.outcome.outputs.size(); ++i) {
    auto content = format_transcript(file.transcript, attempt.job->formats[i], options_.writer);
    if (!content) return tl::unexpected(content.error());
    contents.push_back({file.outcome.outputs[i], std::move(*content)});
  }
  {
    const Lock lock(state_.mutex);
    BatchEntry& entry = state_.entry(attempt);
    entry.requested = file.outcome.requested;
    entry.without_speech = file.outcome.without_speech;
  }
  const auto use = attempt.engine ? attempt.engine->use() : JobEngine::Use{};
  return publisher_.publish(attempt, contents, use, false);
}

void BatchJobSource::failed(std::size_t index, const Error& error) {
  BatchAttempt& attempt = leases_.at(index);
  const JobId id = attempt.lease.key.job;
  const LogOwner owner(worker_name(attempt.worker));
  const bool ours = leases_.settle(attempt);
  const auto use = attempt.engine ? attempt.engine->use() : JobEngine::Use{};
  attempt.engine.reset();  // whichever thread has settled it: its capacity on a device is free
  if (!ours) return;
  const bool no_device_left = error.fault == Fault::device && pool_.over().has_value();
  if (error.fault == Fault::cancelled || no_device_left) {
    leases_.release(attempt.lease.key, error.what);
    if (no_device_left) queue_.stop_taking();
    return queue_.again(id, LeaseRenewer::kCheckAgain);
  }
  const Failure failure{failure_class(error, attempt.job->spec), error.text(), {use.device, Seconds(0), use.busy}};
  const auto after = spaces_.output.retry_until_written({}, [&] { return store_.fail(attempt.lease.key, failure); });
  if (!after) {
    log(Level::error, "the store: " + after.error().text());
    return queue_.stop_taking();
  }
  if (!after->held) return queue_.again(id, LeaseRenewer::kCheckAgain);
  if (after->state == JobState::queued) {
    queue_.again(id, after->wait);
    return reporter_.retried(attempt, error, use.device, after->wait);
  }
  if (after->state == JobState::cancelled) return queue_.end(id, &BatchCounts::cancelled);
  reporter_.failed(attempt, error, use.device);
}

}  // namespace tutti
