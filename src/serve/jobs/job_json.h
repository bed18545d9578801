#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "jobs/job.h"
#include "serve/jobs/job_events.h"
#include "serve/jobs/job_request.h"
#include "serve/openai/speech_answer.h"
#include "transcript/transcript.h"

namespace tutti {

// What the store keeps of a job of /v1/jobs, beside what it keeps of every job.

/// JobSpec::extra of a job: {"fields": [["model", "whisper-1"], ...]}.
std::string to_extra(const FormFields& fields);
/// What a job was requested with. None: the job is none of /v1/jobs.
std::optional<FormFields> fields_of(const Job& job);

/// JobSpec::batch of a client's jobs, by the fingerprint of its token.
std::string batch_of_client(std::string_view client);
bool is_batch_of_service(std::string_view batch);
/// SpeechRequest::client of the requests that a client sends from an address.
std::string request_of_client(std::string_view client, std::string_view address);
/// Whether a job or a request is a client's, by what either of the two above has made of it.
bool is_of_client(std::string_view owner, std::string_view client);
bool is_job_of_service(const Job& job);

/// What JobSpec::key ends with: one for each Idempotency-Key of a client, or where it gave none, for each body.
std::string job_digest(std::string_view client, std::string_view idempotency_key, std::string_view body);

/// A job as /v1/jobs shows it: {"id", "object": "job", "name", "status", "phase", "progress", ...}. `progress`: of one
/// that this server has in work. `why_waiting`: for people; empty: it does not wait.
nlohmann::ordered_json job_json(const Job& job, const std::optional<JobProgress>& progress,
                                const std::string& why_waiting);

/// The result of a job as it is on disk: transcript_json, and behind it "losses" and "notes" where there are any.
std::string result_json(const Transcript& transcript, const AudioFacts& audio);
/// What such a result has of its audio; `duration`: as the store has it.
AudioFacts audio_of_result(std::string_view json, Seconds duration);

/// Why a job of any kind cannot be claimed, for people; empty: it is in work, or has ended. None: it can.
std::optional<std::string> why_not_yet(const Job& job, StoreTime now);

/// Why a job of /v1/jobs does not run, for people; empty: it does, or has ended. `in_work`: how many others are;
/// `held`: why no job runs now.
std::string why_job_waits(const Job& job, StoreTime now, std::size_t in_work, const std::optional<std::string>& held);

/// What a client calls a state, and back: "failed" is the store's `dead`.
std::string status_of(JobState state);
std::optional<JobState> state_of(std::string_view status);

}  // namespace tutti
