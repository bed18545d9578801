#include "runner/sqs_job_source.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "base/random/kernel_random.h"
#include "base/try.h"
#include "jobs/retry.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/pool/pooled_recording.h"

namespace tutti {
namespace {

constexpr Seconds kLookEvery{1};  // whether a job may begin, where no end of another reports it
constexpr double kWindow = 30;    // seconds
constexpr Seconds kFirstRetry{30}, kLongestRetry{900};
constexpr std::size_t kFailuresShown = 50;

/// Before the next attempt: even between half and all of what doubles with each.
Seconds retry_wait(int retries) {
  const Seconds whole = std::min(kFirstRetry * (1 << std::min(retries, 10)), kLongestRetry);
  return whole * (0.5 + random_fraction() / 2);
}

/// As failure_class_of, but that this process is refused something is no fault of the recording: another may have the
/// permission, or this one later.
bool is_permanent(const Error& error) {
  if (error.fault == Fault::refused) return false;
  if (error.fault == Fault::device) return true;  // the pool has tried other devices
  return failure_class_of(error) == FailureClass::permanent;
}

}  // namespace

void SqsJobSource::serve(const ModelContext* model) {
  model_.change([&](auto& loaded) { loaded = model; });
}

/// Two rounds of windows for every device, so that none waits for a download; and always a second job.
bool SqsJobSource::has_capacity(bool held_back) const {
  const auto in_work = parts_.attempts.all();
  const auto most = static_cast<std::size_t>(2 * threads_of(parts_.options));
  if (in_work.empty()) return true;
  if (held_back || parts_.spool.hold() != DiskSpaceWait::Hold::none) return false;
  if (in_work.size() < 2) return true;
  double seconds = 0;
  for (const auto& attempt : in_work) seconds += attempt->length().count();
  return in_work.size() < most && seconds < static_cast<double>(most) * kWindow;
}

std::optional<ClaimedFile> SqsJobSource::next() {
  for (;;) {
    for (auto numbers = parts_.tally.now(); numbers.over == RunnerTally::Over::no && !has_capacity(numbers.held_back);
         numbers = parts_.tally.now())
      parts_.tally.await_change(numbers.changes, kLookEvery);
    if (!parts_.tally.is_over()) intake_.receive();
    if (parts_.tally.is_over()) {
      intake_.release_all();
      return std::nullopt;
    }
    if (intake_.is_empty()) {
      if (intake_.is_idle()) parts_.tally.end(RunnerTally::Over::idle);
      continue;
    }
    return begin(intake_.take_most_urgent());
  }
}

ClaimedFile SqsJobSource::begin(MessageIntake::Waiting waiting) {
  auto attempt =
      std::make_shared<RemoteAttempt>(next_index_++, waiting.token, waiting.receives, std::move(waiting.message));
  parts_.attempts.add(attempt);
  parts_.tally.change([](RunnerTally::Numbers& numbers) { ++numbers.in_work; });
  const JobMessage& message = attempt->message;
  log(Level::info, "STARTING JOB " + message.job_id + ": " + message.s3_input_path + " to " + message.s3_output_path +
                       ", priority " + std::to_string(message.priority) + ", retry count " +
                       std::to_string(message.retry_count));
  parts_.report(*attempt, JobPhase::started, "Job started");
  parts_.held.when_lost(attempt->token, [attempt] { attempt->cancel(); });
  return {attempt->index, message.s3_input_path};
}

/// What another has done already is not done again.
Result<void> SqsJobSource::begin(std::size_t index) {
  const auto attempt = parts_.attempts.at(index);
  const auto output = TRY(parse_s3_path(attempt->message.s3_output_path));
  const auto there = TRY(parts_.callers.with_s3([&](S3Client& s3) { return s3.head(output); }));
  if (!there) {
    TRY(expect_bucket(output.bucket));
    return load_windows(*attempt);
  }
  if (auto own = parts_.expect_own_result(attempt->message, output); !own) return own;
  if (attempt->settle()) {
    log(Level::info, "job " + attempt->message.job_id + ": " + output.text() +
                         " is there already; remove it to have the job done again");
    parts_.held.done(attempt->token);
    if (attempt->receives > 1) parts_.remove_windows(*attempt);
    parts_.report(*attempt, JobPhase::completed, "The transcript was there already");
    parts_.tally.change([](RunnerTally::Numbers& numbers) { ++numbers.elsewhere; });
  }
  return not_wanted();
}

/// An object that is not there does not tell whether its bucket is.
Result<void> SqsJobSource::expect_bucket(const std::string& bucket) {
  const bool is_known = bucket == parts_.options.bucket ||  // it was checked before the first message
                        buckets_.with([&](const auto& known) { return known.contains(bucket); });
  if (is_known) return {};
  TRY(parts_.callers.with_s3([&](S3Client& s3) { return s3.check_bucket(bucket); }));
  buckets_.with([&](auto& known) { known.insert(bucket); });
  return {};
}

/// Only where there was an earlier attempt.
Result<void> SqsJobSource::load_windows(RemoteAttempt& attempt) const {
  if (attempt.receives < 2) return {};
  const S3Path folder{parts_.options.bucket, RunnerParts::segments_prefix(attempt.message.job_id)};
  const auto chunks = TRY(parts_.callers.with_s3([&](S3Client& s3) { return s3.list(folder.bucket, folder.key); }));
  WindowReplies known;
  for (const S3Object& chunk : chunks) {
    const auto text = parts_.callers.with_s3([&](S3Client& s3) { return s3.get({folder.bucket, chunk.key}); });
    if (!text && text.error().fault == Fault::missing) continue;  // whose result is there now has removed it
    if (!text) return tl::unexpected(text.error());
    auto replies = read_replies(*text);
    if (replies)
      known.merge(*replies);
    else
      log(Level::warning, chunk.key + ": " + replies.error().text() + "; these windows are done again");
  }
  if (!known.empty())
    log(Level::info, "job " + attempt.message.job_id + ": an earlier attempt has left " + std::to_string(known.size()) +
                         " answers about windows");
  attempt.earlier.set(std::move(known), static_cast<int>(chunks.size()));
  return {};
}

/// The engine of a job behind what earlier attempts have done.
std::unique_ptr<KeptWindows> SqsJobSource::kept_windows(const std::shared_ptr<RemoteAttempt>& attempt,
                                                        JobEngine& engine, WindowReplies known) const {
  const RunOptions& run = parts_.options.run;
  const std::weak_ptr<RemoteAttempt> owner = attempt;  // which owns the windows
  const auto keep = [this, owner](const WindowReplies& fresh) {
    const auto job = owner.lock();
    if (!job || job->has_settled()) return;
    const std::string number = std::to_string(10'000 + job->earlier.next_object()).substr(1);
    const S3Path path{parts_.options.bucket,
                      RunnerParts::segments_prefix(job->message.job_id) + "chunk_" + number + ".json"};
    const auto put = parts_.settling.with_s3(
        [&](S3Client& s3) { return s3.put(path, replies_json(fresh), "application/json", PutMode::replace); });
    if (!put) log(Level::warning, "finished windows could not be kept: " + put.error().text());
  };
  return std::make_unique<KeptWindows>(
      engine, parts_.options.model_digest + "|" + run.compute_type + "|" + run.build_id, std::move(known), keep);
}

Result<FetchedAudio> SqsJobSource::fetch(const ClaimedFile& file) {
  const auto attempt = parts_.attempts.at(file.index);
  const auto input = TRY(parse_s3_path(attempt->message.s3_input_path));
  parts_.report(*attempt, JobPhase::downloading, "Downloading " + input.text());
  auto fetched = fetch_audio(parts_.spool, [&](int audio) -> Result<void> {
    if (attempt->has_settled()) return not_wanted();
    const auto object = TRY(parts_.callers.with_s3([&](S3Client& s3) { return s3.fetch(input, audio); }));
    if (object.size == 0) return fail(Fault::corrupt, input.text() + ": it is empty", "Upload the recording again");
    attempt->input_etag.with([&](std::string& etag) { etag = object.etag; });
    return {};
  });
  if (fetched) parts_.report(*attempt, JobPhase::downloaded, "Downloaded");
  return fetched;
}

/// That the disk for audio is full is no fault of the recording: it is waited for.
Result<Recording> SqsJobSource::decoded(std::size_t index, const Decode& decode) {
  const auto attempt = parts_.attempts.at(index);
  parts_.report(*attempt, JobPhase::preparing, "Decoding the audio");
  auto recording = parts_.spool.retry_until_written(Bytes{0}, [&]() -> Result<Recording> {
    if (attempt->has_settled()) return not_wanted();
    return decode();
  });
  if (recording)
    for (const auto& remark : recording->remarks()) log(Level::warning, attempt->message.s3_input_path + ": " + remark);
  return recording;
}

Result<void> SqsJobSource::on_audio_decoded(std::size_t index, Seconds length) {
  const auto attempt = parts_.attempts.at(index);
  if (attempt->has_settled()) return not_wanted();
  attempt->set_decoded(length);
  parts_.tally.change([](RunnerTally::Numbers&) {});  // there may be capacity for another
  return {};
}

const ModelContext* SqsJobSource::await_model(const RemoteAttempt& attempt) {
  const auto loaded = model_.with([](const auto& now) { return now; });
  if (!loaded) parts_.report(attempt, JobPhase::model_loading, "Loading model " + parts_.options.model_name);
  const ModelContext* model =
      model_.wait([](const auto& now) { return now.has_value(); }, [](const auto& now) { return *now; });
  if (model && attempt.share() == 0) parts_.report(attempt, JobPhase::model_ready, "Model is ready");
  return model;
}

const TranscriptionContext* SqsJobSource::context(std::size_t index) {
  const auto attempt = parts_.attempts.at(index);
  const ModelContext* model = await_model(*attempt);
  if (!model) return nullptr;
  const PoolJob job{.id = index, .audio = attempt->length(), .priority = pool_priority(attempt->message)};
  return attempt->context([&] {
    const auto pooled = std::make_shared<PooledRecording>(parts_.pool, job);
    std::shared_ptr<KeptWindows> windows = kept_windows(attempt, pooled->engine(), attempt->earlier.take());
    attempt->windows.with([&](auto& own) { own = windows; });
    return RecordingAttempt::Serving{{pooled, &pooled->engine()},
                                     model->context(*windows, parts_.options.run, on_progress_, true)};
  });
}

void SqsJobSource::failed(std::size_t index, const Error& error) {
  const auto attempt = parts_.attempts.at(index);
  const auto windows = attempt->windows.with([](const auto& own) { return own; });
  if (windows && !is_permanent(error)) windows->flush();
  const bool ours = attempt->settle();
  attempt->release_engine();
  const bool no_device_left = error.fault == Fault::device && parts_.pool.over().has_value();
  if (!ours) return parts_.ended(*attempt, [](RunnerTally::Numbers&) {});
  const bool no_other_works = no_device_left || parts_.is_account_refused(error);
  if (no_other_works) parts_.tally.end(RunnerTally::Over::failed, error);
  if (no_other_works || error.fault == Fault::cancelled) {
    parts_.held.release(attempt->token);
    log(Level::info, "job " + attempt->message.job_id + " is released: " + error.what);
    return parts_.ended(*attempt, [](RunnerTally::Numbers& numbers) { ++numbers.released; });
  }
  const bool is_last = attempt->receives >= parts_.queue.most_receives;
  if (is_permanent(error) || is_last)
    bury(*attempt, error);
  else
    retry(*attempt, error);
}

void SqsJobSource::retry(const RemoteAttempt& attempt, const Error& error) {
  const Seconds wait = retry_wait(attempt.message.retry_count);
  parts_.held.retry(attempt.token, wait);
  const std::string why = error.text() + ". Tried again in " + fixed_text(wait.count(), 0) + " s";
  log(Level::warning, "job " + attempt.message.job_id + ": " + why);
  parts_.report(attempt, JobPhase::error, why);
  parts_.ended(attempt, [](RunnerTally::Numbers& numbers) { ++numbers.retried; });
}

void SqsJobSource::bury(const RemoteAttempt& attempt, const Error& error) {
  parts_.held.bury(attempt.token, {{"failure_reason", error.text().substr(0, RunnerParts::kMostOfReason)},
                                   {"job_id", attempt.message.job_id},
                                   {"attempts", std::to_string(attempt.receives)},
                                   {"worker_id", parts_.options.worker_id}});
  log(Level::error, "job " + attempt.message.job_id + " failed for good: " + error.text());
  parts_.report(attempt, JobPhase::error, error.text());
  parts_.ended(attempt, [&](RunnerTally::Numbers& numbers) {
    ++numbers.failed;
    numbers.failures.push_front({.name = attempt.message.s3_input_path,
                                 .error = error.text(),
                                 .attempts = static_cast<std::size_t>(attempt.receives)});
    if (numbers.failures.size() > kFailuresShown) numbers.failures.pop_back();
  });
}

}  // namespace tutti
