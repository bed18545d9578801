#include "serve/jobs/job_record.h"

#include "base/json.h"
#include "base/sha256.h"

namespace tutti {
namespace {

constexpr std::string_view kBatch = "/v1/jobs/";

}  // namespace

std::string to_extra(const JobRecord& record) {
  return json_line(nlohmann::ordered_json{{"fields", record.fields}, {"body", record.body}});
}

std::optional<JobRecord> record_of(const Job& job) {
  if (!is_job_of_service(job)) return std::nullopt;
  const auto json = nlohmann::json::parse(job.spec.extra, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("fields") || !json.contains("body")) return std::nullopt;
  JobRecord record;
  for (const auto& field : json["fields"]) {
    if (!field.is_array() || field.size() != 2 || !field[0].is_string() || !field[1].is_string()) return std::nullopt;
    record.fields.emplace_back(field[0].get<std::string>(), field[1].get<std::string>());
  }
  record.body = json["body"].is_string() ? json["body"].get<std::string>() : "";
  return record;
}

std::string batch_of_client(std::string_view client) {
  return std::string(kBatch) + std::string(client);
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

}  // namespace tutti
