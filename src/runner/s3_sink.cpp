#include "runner/s3_sink.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr Seconds kPause{5};  // between rounds of attempts to put a result

using Json = nlohmann::ordered_json;

Json words_json(const std::vector<Word>& words) {
  Json all = Json::array();
  for (const Word& word : words) {
    Json& one = all.emplace_back(Json{{"word", word.word}});
    if (std::isnan(word.start) || std::isnan(word.end)) continue;
    one["start"] = word.start;
    one["end"] = word.end;
    one["score"] = word.probability;
  }
  return all;
}

Json segments_json(const Transcript& transcript) {
  Json all = Json::array();
  for (const Segment& segment : transcript.segments)
    all.push_back(Json{
        {"start", segment.start}, {"end", segment.end}, {"text", segment.text}, {"words", words_json(segment.words)}});
  return all;
}

bool is_gpu(const RunnerOptions& options, const std::string& id) {
  const auto chosen = std::ranges::find(options.devices, id, &ChosenDevice::id);
  return chosen != options.devices.end() && chosen->device.kind == ResolvedDevice::Kind::cuda;
}

/// Windows that the devices step together, at most.
int batch_size_of(const PoolView& view) {
  int most = 0;
  for (const auto& device : view.devices) most = std::max(most, device.slots);
  return most;
}

}  // namespace

std::string result_json(const JobMessage& message, const ResultFacts& facts, const Transcript& transcript) {
  const std::string at = utc_text(facts.at);
  Json json{{"schema_version", kResultVersion},
            {"job_id", message.job_id},
            {"s3_input_path", message.s3_input_path},
            {"s3_output_path", message.s3_output_path},
            {"estimated_duration_seconds", message.estimated_duration_seconds},
            {"actual_transcription_time_seconds", facts.took.count()},
            {"priority", message.priority},
            {"retry_count", message.retry_count},
            {"processed_at", at},
            {"worker_id", facts.worker_id},
            {"transcript",
             {{"segments", segments_json(transcript)},
              {"language", transcript.language},
              {"video_id", message.job_id},
              {"transcribed_at", at},
              {"transcriber", "tutti"},
              {"model", facts.model},
              {"batch_size", facts.batch_size}}},
            {"audio_duration_seconds", facts.audio.count()},
            {"input_etag", facts.input_etag}};
  if (!facts.losses.empty()) json["losses"] = facts.losses;
  return json_line(json) + "\n";
}

std::string S3Sink::content_of(const RemoteAttempt& attempt, const TranscribedFile& file) const {
  const ResultFacts facts{.worker_id = parts_.options.worker_id,
                          .model = parts_.options.model_name,
                          .batch_size = batch_size_of(parts_.pool.view()),
                          .took = Clock::real().now() - file.started,
                          .audio = file.outcome.duration,
                          .input_etag = attempt.input_etag.with([](const std::string& etag) { return etag; }),
                          .losses = file.outcome.losses,
                          .at = std::chrono::system_clock::now()};
  return result_json(attempt.message, facts, file.transcript);
}

Result<PutEnd> S3Sink::put(const RemoteAttempt& attempt, const S3Path& output, const std::string& content) {
  for (;;) {
    if (!parts_.held.is_ours(attempt.token))
      return fail(Fault::cancelled, output.text() + ": another worker may have the job by now");
    auto put = parts_.callers.with_s3(
        [&](S3Client& s3) { return s3.put(output, content, "application/json", PutMode::only_new); });
    if (put || put.error().fault != Fault::unavailable) return put;
    log(Level::warning, put.error().text() + ". The transcript is kept, and put again");
    parts_.tally.await_over(kPause);
  }
}

Result<void> S3Sink::publish(TranscribedFile& file) {
  const auto attempt = parts_.attempts.at(file.outcome.index);
  if (attempt->has_settled()) return not_wanted();
  const auto output = TRY(parse_s3_path(attempt->message.s3_output_path));
  parts_.report(*attempt, JobPhase::saving, "Writing the transcript");
  const std::string content = content_of(*attempt, file);
  parts_.report(*attempt, JobPhase::uploading, "Uploading to " + output.text());
  const auto put = TRY(this->put(*attempt, output, content));
  const bool elsewhere = put == PutEnd::was_there;
  if (elsewhere)
    if (auto own = parts_.expect_own_result(attempt->message, output); !own) return own;
  if (!attempt->settle()) return not_wanted();
  const std::string device = attempt->use().device;
  attempt->release_engine();
  parts_.held.done(attempt->token);
  if (attempt->earlier.has_objects()) parts_.remove_windows(*attempt);
  file.outcome.outputs = {output.text()};
  if (elsewhere)
    log(Level::info, "job " + attempt->message.job_id + ": another worker has published it before");
  else
    log_done(*attempt, file, device);
  std::string message = elsewhere ? "Another worker has done it" : "Transcription completed";
  if (!elsewhere && !file.outcome.losses.empty())
    message += ", but audio is missing: " + joined(file.outcome.losses, "; ");
  parts_.report(*attempt, JobPhase::completed, std::move(message));
  parts_.ended(*attempt, [&](RunnerTally::Numbers& numbers) {
    ++(elsewhere ? numbers.elsewhere : numbers.done);
    if (elsewhere) return;
    numbers.audio += file.outcome.requested;
    numbers.transcribed.push_back(file.outcome.duration);
    numbers.without_speech += file.outcome.without_speech ? 1 : 0;
  });
  return {};
}

/// The lines that the note's guide looks for in the log.
void S3Sink::log_done(const RemoteAttempt& attempt, const TranscribedFile& file, const std::string& device) const {
  const FileOutcome& outcome = file.outcome;
  const std::string took = fixed_text(Seconds(Clock::real().now() - file.started).count(), 2);
  const auto reused = attempt.windows.with([](const auto& own) { return own ? own->reused() : 0; });
  if (reused > 0)
    log(Level::info, std::to_string(reused) + " answers about windows were taken from an earlier attempt");
  log(Level::info, std::string(is_gpu(parts_.options, device) ? "GPU" : "CPU") +
                       " batch processing completed: " + std::to_string(outcome.counts.windows) +
                       " windows, on average " + fixed_text(outcome.counts.batch_fill(), 1) + " at once");
  log(Level::info,
      "Transcription completed in " + took + " seconds: " + fixed_text(outcome.duration.count(), 1) + " s of audio");
  log(Level::info, "SUCCESS: Job " + attempt.message.job_id + " completed successfully, " +
                       std::to_string(file.transcript.segments.size()) + " segments in " +
                       attempt.message.s3_output_path);
}

}  // namespace tutti
