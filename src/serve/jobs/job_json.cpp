#include "serve/jobs/job_json.h"

#include <array>

namespace tutti {

using Json = nlohmann::ordered_json;

std::string status_of(JobState state) {
  return state == JobState::dead ? "failed" : std::string(name_of(state));
}

std::optional<JobState> state_of(std::string_view status) {
  return status == "dead" ? std::nullopt : job_state_named(status == "failed" ? "dead" : status);
}

std::string why_job_waits(const Job& job, StoreTime now, std::size_t in_work) {
  if (job.state == JobState::held) return "held until it is resumed";
  if (job.state != JobState::queued) return {};
  if (job.not_before > now)
    return "it has failed " + std::to_string(job.strikes) + " times and is tried again later";
  return std::to_string(in_work) + " are in work; its turn comes by class, priority and age, and clients take turns";
}

Json job_json(const Job& job, const std::optional<JobProgress>& progress, const std::string& why_waiting) {
  constexpr std::array kClasses{"interactive", "normal", "batch"};
  constexpr double kMilliseconds = 1000;
  const bool done = job.state == JobState::done;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const std::string status = status_of(job.state);
  const bool failed = job.state != JobState::done && !job.error.empty();
  return {{"id", std::to_string(job.id)},
          {"object", "job"},
          {"name", job.spec.name},
          {"status", status},
          {"phase", progress ? progress->phase : status},
          {"progress", done ? 1.0 : progress ? progress->share() : job.progress},
          {"duration", job.spec.audio ? Json(job.spec.audio->count()) : Json(nullptr)},
          {"class", kClasses.at(static_cast<std::size_t>(job.spec.job_class))},
          {"priority", job.spec.priority},
          {"attempts", job.attempts},
          {"created_at", static_cast<double>(job.submitted.time_since_epoch().count()) / kMilliseconds},
          {"why_waiting", or_null(why_waiting)},
          {"error", failed ? Json{{"message", job.error}, {"type", "job_error"}, {"param", nullptr}, {"code", nullptr}}
                           : Json(nullptr)},
          {"result", done ? Json("/v1/jobs/" + std::to_string(job.id) + "/result") : Json(nullptr)}};
}

}  // namespace tutti
