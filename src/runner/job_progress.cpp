#include "runner/job_progress.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/time_text.h"
#include "cloud/job_message.h"

namespace tutti {
namespace {

struct Phase {
  const char* name;
  double percentage;
};

constexpr double kBegun = 30, kDone = 90;  // of transcribing

constexpr std::array<Phase, 11> kPhases{{{"STARTED", 0},
                                         {"DOWNLOADING", 5},
                                         {"DOWNLOADED", 10},
                                         {"PREPARING", 15},
                                         {"MODEL_LOADING", 20},
                                         {"MODEL_READY", 25},
                                         {"TRANSCRIBING", kBegun},
                                         {"SAVING", 95},
                                         {"UPLOADING", 98},
                                         {"COMPLETED", 100},
                                         {"ERROR", 0}}};

const Phase& facts_of(JobPhase phase) {
  return kPhases.at(static_cast<std::size_t>(phase));
}

}  // namespace

const char* name_of(JobPhase phase) {
  return facts_of(phase).name;
}

double percentage_of(JobPhase phase, double share) {
  if (phase != JobPhase::transcribing) return facts_of(phase).percentage;
  return kBegun + std::round((kDone - kBegun) * std::clamp(share, 0.0, 1.0) * 10) / 10;
}

std::string progress_json(const RemoteProgress& progress, std::chrono::system_clock::time_point now) {
  const std::string time = utc_text(now);
  return json_line(nlohmann::ordered_json{{"schema_version", kStatusVersion},
                                          {"job_id", progress.job_id},
                                          {"status", name_of(progress.phase)},
                                          {"message", progress.message},
                                          {"percentage", percentage_of(progress.phase, progress.share)},
                                          {"elapsed_seconds", progress.elapsed.count()},
                                          {"timestamp", time},
                                          {"last_update", time},
                                          {"worker_id", progress.worker_id}});
}

std::string progress_key(const std::string& job_id) {
  return "progress/" + job_id + "/status.json";
}

}  // namespace tutti
