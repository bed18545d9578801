#include "transcribe/batch/batch_job_source.h"

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/log_owner.h"
#include "base/numbers.h"
#include "base/try.h"
#include "device/machine.h"
#include "net/url_fetch.h"
#include "transcribe/inputs/recording_digest.h"
#include "transcribe/output_plan.h"

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
/// while than a recording is deleted. A server that is away is another fault.
bool may_come_back(const JobSpec& spec) {
  if (is_address(spec.input)) return false;
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

/// For messages: an address may have a signature behind its "?".
std::string shown_input(const JobSpec& spec) {
  return is_address(spec.input) ? shown_address(spec.input) : spec.input;
}

void release(LeaseSession& leases, const LeaseKey& key, const std::string& reason) {
  if (const auto back = leases.release(key, reason); !back) log(Level::error, "the store: " + back.error().text());
}

}  // namespace

void BatchJobSource::serve(const ModelContext* model) {
  model_.change([&](auto& loaded) { loaded = model; });
}

std::optional<ClaimedFile> BatchJobSource::next() {
  for (;;) {
    const RunQueue::NextStep step = parts_.queue.wait();
    if (step.publish_kept) {
      publisher_.publish_kept();
    } else if (!step.job) {
      return {};
    } else if (parts_.spaces.output.expect_some()) {
      if (auto claimed = claim(step)) return claimed;
    } else {
      parts_.queue.again(*step.job, Seconds(0));
      parts_.spaces.output.await_some();
    }
  }
}

/// None: another process has it; or a user has stopped the run meanwhile, in answer to the question about another
/// recording.
std::optional<ClaimedFile> BatchJobSource::claim(const RunQueue::NextStep& step) {
  const JobId id = *step.job;
  auto taken = claims_.take(step);
  if (!taken) {
    log(Level::error, "the store: " + taken.error().text());
    parts_.queue.stop_taking();
    return {};
  }
  if (!taken->lease) {
    not_claimable(id, taken->known);
    return {};
  }
  if (is_superseded(id, taken->lease->job.spec)) {
    release(parts_.leases, taken->lease->key, "another run has requested it in another way");
    superseded(id);
    return {};
  }
  const BatchAttempt& attempt = begin(*std::move(taken->lease));
  if (reporter_.may_begin()) return ClaimedFile{attempt.index, shown_input(attempt.job.spec)};
  failed(attempt.index, {Fault::cancelled, "the run was stopped before it began", ""});
  return {};
}

BatchAttempt& BatchJobSource::begin(Lease lease) {
  const LeaseKey key = lease.key;
  const auto [job, length] = parts_.jobs.with(key.job, [](BatchEntry& entry, BatchTally& tally) {
    if (entry.number == 0) entry.number = ++tally.begun;
    return std::pair(entry.job, entry.audio);
  });
  BatchAttempt& attempt = parts_.attempts.begin(std::move(lease), *job, length);
  const auto revoked = [this, &attempt](bool cancelled) {
    if (!parts_.attempts.settle(attempt)) return;
    attempt.cancel();
    if (cancelled)
      parts_.queue.end(attempt.id(), &BatchCounts::cancelled);
    else
      parts_.queue.again(attempt.id(), RunParts::kCheckAgain);
  };
  parts_.leases.attach(key, {.progress = [&attempt] { return attempt.share(); }, .revoked = revoked});
  return attempt;
}

/// Another process has it, or had it: what became of it decides.
void BatchJobSource::not_claimable(JobId id, const std::optional<Job>& known) {
  if (known && is_superseded(id, known->spec)) return superseded(id);
  const JobState state = known ? known->state : JobState::queued;
  if (state == JobState::done) return parts_.queue.end(id, &BatchCounts::done);
  if (state == JobState::dead) return parts_.queue.end(id, &BatchCounts::failed);
  if (state == JobState::cancelled || state == JobState::held) return parts_.queue.end(id, &BatchCounts::cancelled);
  const bool first_look = parts_.jobs.with(
      id, [](BatchEntry& entry, const BatchTally&) { return !std::exchange(entry.seen_elsewhere, true); });
  parts_.queue.again(id, first_look ? RunParts::kFirstCheck : RunParts::kCheckAgain);
}

/// The store has another version of it by now: another process requested the same outputs in another way.
bool BatchJobSource::is_superseded(JobId id, const JobSpec& stored) {
  return parts_.jobs.with(
      id, [&](const BatchEntry& entry, const BatchTally&) { return !is_same_work(stored, entry.job->spec); });
}

void BatchJobSource::superseded(JobId id) {
  const std::string name =
      parts_.jobs.with(id, [](const BatchEntry& entry, const BatchTally&) { return entry.job->spec.name; });
  log(Level::warning, name + ": another run has requested the same outputs in another way; it is left to that run");
  parts_.queue.end(id, &BatchCounts::cancelled);
}

Result<void> BatchJobSource::begin(std::size_t index) {
  BatchAttempt& attempt = parts_.attempts.at(index);
  const LogOwner owner(worker_name(attempt.worker));
  if (attempt.has_settled()) return not_wanted();
  if (auto named = expect_names(attempt.job.outputs()); !named) return named;
  // What an address has is known once it is fetched.
  const bool is_known = !attempt.lease.job.sha256.empty() || !attempt.lease.same_outputs.empty();
  return is_address(attempt.job.spec.input) && !is_known ? Result<void>()
                                                         : expect_new_content(attempt, attempt.job.spec.input);
}

/// Fault::cancelled: another recording with the same content is in work, or its outputs were taken over.
Result<void> BatchJobSource::expect_new_content(BatchAttempt& attempt, const std::filesystem::path& audio) {
  std::vector<JobOutput> same = attempt.lease.same_outputs;
  if (same.empty()) {
    // The store is queried even where the content is known already: another recording with it may be in work by now.
    const auto content = TRY(attempt.lease.job.sha256.empty() ? sha256_of_recording(audio, aborted_)
                                                              : Result<std::string>(attempt.lease.job.sha256));
    const auto check = TRY(parts_.leases.content_known(attempt.lease.key, content));
    if (check.what == ContentCheck::What::wait || check.what == ContentCheck::What::lost) {
      if (parts_.attempts.settle(attempt)) parts_.queue.again(attempt.id(), RunParts::kCheckAgain);
      return not_wanted();
    }
    same = check.same_outputs;
  }
  if (same.empty()) return {};
  const auto copies = copy_of(same, attempt.job.outputs(), parts_.options.objects.get());
  if (!copies) return {};  // not whole any more: then the work is done again
  if (auto published = publisher_.publish_copy(attempt, *copies); !published) return published;
  return not_wanted();
}

/// A full disk is waited for, as by `decoded`.
Result<FetchedAudio> BatchJobSource::fetch(const ClaimedFile& file) {
  BatchAttempt& attempt = parts_.attempts.at(file.index);
  const std::string& address = attempt.job.spec.input;
  if (!is_address(address)) return FetchedAudio{file.input};
  const LogOwner owner(worker_name(attempt.worker));
  const auto is_wanted = [&] { return !attempt.has_settled(); };
  auto fetched = fetch_audio(parts_.spaces.spool, [&](int audio) -> Result<void> {
    if (!is_wanted()) return not_wanted();
    return addresses_.fetch(address, audio, is_wanted);
  });
  if (!fetched || !attempt.lease.job.sha256.empty()) return fetched;
  TRY(expect_new_content(attempt, fetched->path));
  return fetched;
}

/// That the disk for decoded audio is full, or not to be written to, is no recording's fault: it is waited for.
Result<Recording> BatchJobSource::decoded(std::size_t index, const Decode& decode) {
  BatchAttempt& attempt = parts_.attempts.at(index);
  const LogOwner owner(worker_name(attempt.worker));
  const auto declared =
      parts_.jobs.with(attempt.id(), [](const BatchEntry& entry, const BatchTally&) { return entry.declared_length; });
  DiskSpaceWait& spool = parts_.spaces.spool;
  auto whole = spool.retry_until_written(decoded_size(attempt.length()), [&]() -> Result<Recording> {
    if (attempt.has_settled()) return not_wanted();
    auto recording = decode();
    const bool no_space = !recording && spool.is_curable(recording.error());
    attempt.set_no_space(no_space);
    if (!no_space || !declared || recording.error().fault != Fault::full) return recording;
    const auto disk = disk_space(temporary_folder());
    const Bytes needed = decoded_size(*declared);
    if (disk && needed > disk->total) recording.error() = without_end(recording.error(), needed, disk->total);
    return recording;
  });
  if (whole) add_remarks(attempt, *whole);
  return whole;
}

/// It is transcribed all the same, but must not come out shorter in silence.
void BatchJobSource::add_remarks(const BatchAttempt& attempt, const Recording& recording) {
  for (const auto& remark : recording.remarks()) log(Level::warning, attempt.job.spec.name + ": " + remark);
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally&) {
    entry.losses = recording.losses();
    entry.notes = recording.notes();
  });
}

Result<void> BatchJobSource::on_audio_decoded(std::size_t index, Seconds length) {
  BatchAttempt& attempt = parts_.attempts.at(index);
  if (attempt.has_settled()) return not_wanted();
  attempt.set_decoded(length);
  parts_.jobs.with(attempt.id(), [&](BatchEntry& entry, BatchTally& tally) {
    tally.open.remove(entry);
    entry.audio = length;
    tally.open.add(entry);
  });
  return parts_.leases.set_length(attempt.lease.key, length);
}

const TranscriptionContext* BatchJobSource::context(std::size_t index) {
  BatchAttempt& attempt = parts_.attempts.at(index);
  const ModelContext* model =
      model_.wait([](const auto& loaded) { return loaded.has_value(); }, [](const auto& loaded) { return *loaded; });
  if (!model) return nullptr;
  return attempt.context([&] {
    const PoolJob job = parts_.jobs.with(attempt.id(), [&](const BatchEntry& entry, const BatchTally&) {
      return pool_job(entry, parts_.options, parts_.began);
    });
    std::shared_ptr<JobEngine> engine = parts_.pool.engine(job);
    engine->when_granted([this] { reporter_.started(); });
    return RecordingAttempt::Serving{engine, model->context(*engine, parts_.options.run, on_progress_, true)};
  });
}

void BatchJobSource::failed(std::size_t index, const Error& error) {
  BatchAttempt& attempt = parts_.attempts.at(index);
  const JobId id = attempt.id();
  const LogOwner owner(worker_name(attempt.worker));
  const bool ours = parts_.attempts.settle(attempt);
  const auto use = attempt.use();
  attempt.release_engine();  // whichever thread has settled it: its capacity on a device is free
  if (!ours) return;
  const bool no_device_left = error.fault == Fault::device && parts_.pool.over().has_value();
  if (error.fault == Fault::cancelled || no_device_left) {
    release(parts_.leases, attempt.lease.key, error.what);
    if (no_device_left) parts_.queue.stop_taking();
    return parts_.queue.again(id, RunParts::kCheckAgain);
  }
  const Failure failure{failure_class(error, attempt.job.spec), error.text(), {use.device, Seconds(0), use.busy}};
  const auto after = parts_.leases.fail(attempt.lease.key, failure);
  if (!after) {
    log(Level::error, "the store: " + after.error().text());
    return parts_.queue.stop_taking();
  }
  if (!after->held) return parts_.queue.again(id, RunParts::kCheckAgain);
  if (after->state == JobState::queued) {
    parts_.queue.again(id, after->wait);
    return reporter_.retried(attempt, error, use.device, after->wait);
  }
  if (after->state == JobState::cancelled) return parts_.queue.end(id, &BatchCounts::cancelled);
  reporter_.failed(attempt, error, use.device);
}

}  // namespace tutti
