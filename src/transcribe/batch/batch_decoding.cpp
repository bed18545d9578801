#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/log_owner.h"
#include "base/numbers.h"
#include "device/machine.h"
#include "transcribe/batch/batch_files.h"
#include "transcribe/inputs/recording_digest.h"
#include "transcribe/output_plan.h"
#include "transcript/output_text.h"

namespace tutti {

// From a claimed job to its windows: what is in the file, its audio, and which engine serves it.

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

}  // namespace

Result<void> BatchFiles::begin(std::size_t index) {
  BatchAttempt& attempt = at(index);
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
        output_space_.retry_until_written({}, [&] { return store_.content_known(attempt.lease.key, *content); });
    if (!check) return tl::unexpected(check.error());
    if (check->what == ContentCheck::What::wait || check->what == ContentCheck::What::lost) {
      if (settle(attempt)) again(attempt.lease.key.job, kLookAgain);
      return not_wanted();
    }
    same = check->same_outputs;
  }
  if (same.empty()) return {};
  const auto copies = copy_of(same, attempt.job->outputs());
  if (!copies) return {};  // not whole any more: then the work is done again
  {
    const Lock lock(mutex_);
    entries_.at(attempt.lease.key.job).without_speech =
        !copies->empty() && !output_has_text(copies->front().content, attempt.job->formats.front());
  }
  if (auto published = publish_contents(attempt, *copies, {}, true); !published) return published;
  return not_wanted();
}

/// That the disk for decoded audio is full, or not to be written to, is no recording's fault: it is waited for.
Result<Recording> BatchFiles::decoded(std::size_t index, const Decode& decode) {
  BatchAttempt& attempt = at(index);
  const LogOwner owner(worker_name(attempt.worker));
  const auto [length, declared_length] = [&] {
    const Lock lock(mutex_);
    return std::pair(attempt.length, entries_.at(attempt.lease.key.job).declared_length);
  }();
  auto whole = spool_space_.retry_until_written(
      decoded_size(length), [&, declared_length = declared_length]() -> Result<Recording> {
        if (attempt.settled) return not_wanted();
        auto recording = decode();
        attempt.no_space = !recording && spool_space_.would_mend(recording.error());
        if (!attempt.no_space || !declared_length || recording.error().fault != Fault::full) return recording;
        const auto disk = disk_space(temporary_folder());
        const Bytes needed = decoded_size(*declared_length);
        if (disk && needed > disk->total) recording.error() = without_end(recording.error(), needed, disk->total);
        return recording;
      });
  if (whole) tell_remarks(attempt, *whole);
  return whole;
}

/// It is transcribed all the same, but must not come out shorter in silence.
void BatchFiles::tell_remarks(const BatchAttempt& attempt, const Recording& recording) {
  for (const auto& remark : recording.remarks()) log(Level::warning, attempt.job->spec.name + ": " + remark);
  const Lock lock(mutex_);
  Entry& entry = entries_.at(attempt.lease.key.job);
  entry.losses = recording.losses();
  entry.notes = recording.notes();
}

Result<void> BatchFiles::on_audio_decoded(std::size_t index, Seconds length) {
  BatchAttempt& attempt = at(index);
  {
    const Lock lock(mutex_);
    if (attempt.settled) return not_wanted();
    attempt.length = length;
    attempt.decoded = true;
    Entry& entry = entries_.at(attempt.lease.key.job);
    tally_.open.remove(entry);
    entry.audio = length;
    tally_.open.add(entry);
  }
  return output_space_.retry_until_written(
      {}, [&] { return store_.set_length(attempt.lease.key.job, length, LengthSource::measured); });
}

const TranscriptionContext* BatchFiles::context(std::size_t index) {
  BatchAttempt& attempt = at(index);
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return model_.has_value(); });
  if (!*model_ || attempt.settled) return nullptr;
  if (!attempt.context) {
    const Entry& entry = entries_.at(attempt.lease.key.job);
    attempt.engine = pool_.engine(pool_job(attempt.lease.key.job, entry));
    attempt.engine->when_granted([this] { report_starts(); });
    attempt.engine->correct_length(attempt.length);
    attempt.context.emplace((*model_)->context(*attempt.engine, options_.run, *on_progress_, true));
  }
  return &*attempt.context;
}

}  // namespace tutti
