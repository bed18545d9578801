#include "serve/jobs/job_json.h"

#include <utility>

#include "base/sha256.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBatch = "/v1/jobs/";

}  // namespace

std::string to_extra(const FormFields& fields) {
  return json_line(Json{{"fields", fields}});
}

std::optional<FormFields> fields_of(const Job& job) {
  if (!is_job_of_service(job)) return std::nullopt;
  const auto json = nlohmann::json::parse(job.spec.extra, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("fields")) return std::nullopt;
  FormFields fields;
  for (const auto& field : json["fields"]) {
    if (!field.is_array() || field.size() != 2 || !field[0].is_string() || !field[1].is_string()) return std::nullopt;
    fields.emplace_back(field[0].get<std::string>(), field[1].get<std::string>());
  }
  return fields;
}

std::string batch_of_client(std::string_view client) {
  return std::string(kBatch) + std::string(client);
}

std::string request_of_client(std::string_view client, std::string_view address) {
  return std::string(client) + " " + std::string(address);
}

bool is_of_client(std::string_view owner, std::string_view client) {
  return owner == batch_of_client(client) || owner.starts_with(request_of_client(client, ""));
}

bool is_batch_of_service(std::string_view batch) {
  return batch.starts_with(kBatch);
}

bool is_job_of_service(const Job& job) {
  return is_batch_of_service(job.spec.batch);
}

std::string job_digest(std::string_view client, std::string_view idempotency_key, std::string_view body) {
  const std::string kind = idempotency_key.empty() ? "body" : "key";
  return sha256_of(std::string(client) + "\n" + kind + "\n" +
                   std::string(idempotency_key.empty() ? body : idempotency_key));
}

std::string status_of(JobState state) {
  return state == JobState::dead ? "failed" : std::string(name_of(state));
}

std::optional<JobState> state_of(std::string_view status) {
  return status == "dead" ? std::nullopt : job_state_named(status == "failed" ? "dead" : status);
}

std::string result_json(const Transcript& transcript, const AudioFacts& audio) {
  std::string json = transcript_json(transcript);
  if (audio.losses.empty() && audio.notes.empty()) return json;
  const std::string facts = json_line(Json{{"losses", audio.losses}, {"notes", audio.notes}});
  json.erase(json.find_last_of('}'));
  return json + ", " + facts.substr(1);
}

AudioFacts audio_of_result(std::string_view json, Seconds duration) {
  AudioFacts audio{.duration = duration};
  const auto read = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto add = [&](const char* name, std::vector<std::string>& texts) {
    if (!read.is_object() || !read.contains(name)) return;
    for (const auto& text : read[name])
      if (text.is_string()) texts.push_back(text.get<std::string>());
  };
  add("losses", audio.losses);
  add("notes", audio.notes);
  return audio;
}

std::optional<std::string> why_not_yet(const Job& job, StoreTime now) {
  if (job.state == JobState::held) return "held until it is resumed";
  if (job.state != JobState::queued) return "";
  if (job.not_before > now) return "it has failed " + std::to_string(job.strikes) + " times and is tried again later";
  return std::nullopt;
}

std::string why_job_waits(const Job& job, StoreTime now, std::size_t in_work, const std::optional<std::string>& held) {
  if (auto why = why_not_yet(job, now)) return std::move(*why);
  if (held) return *held;
  return std::to_string(in_work) + " are in work; its turn comes by class, priority and age, and clients take turns";
}

Json job_json(const Job& job, const std::optional<JobProgress>& progress, const std::string& why_waiting) {
  constexpr double kMilliseconds = 1000;
  const bool done = job.state == JobState::done;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const std::string status = status_of(job.state);
  const bool failed = job.state != JobState::done && !job.error.empty();
  return {{"id", std::to_string(job.id)},
          {"object", "job"},
          {"name", job.spec.name},
          {"status", status},
          {"phase", progress && !is_final(job.state) ? progress->phase : status},
          {"progress", done       ? 1.0
                       : progress ? progress->share()
                                  : job.progress},
          {"duration", job.spec.audio ? Json(job.spec.audio->count()) : Json(nullptr)},
          {"class", name_of(job.spec.job_class)},
          {"priority", job.spec.priority},
          {"attempts", job.attempts},
          {"created_at", static_cast<double>(job.submitted.time_since_epoch().count()) / kMilliseconds},
          {"why_waiting", or_null(why_waiting)},
          {"error", failed ? Json{{"message", job.error}, {"type", "job_error"}, {"param", nullptr}, {"code", nullptr}}
                           : Json(nullptr)},
          {"result", done ? Json("/v1/jobs/" + std::to_string(job.id) + "/result") : Json(nullptr)}};
}

}  // namespace tutti
