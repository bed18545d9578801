#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/units.h"

namespace tutti {

/// The states of a job in its status.json, of field note 001.
enum class JobPhase {
  started,
  downloading,
  downloaded,
  preparing,
  model_loading,
  model_ready,
  transcribing,
  saving,
  uploading,
  completed,
  error
};

/// "MODEL_LOADING".
const char* name_of(JobPhase phase);
/// 0 to 100; while transcribing 30 to 90, by the share (0..1) of its audio that is done.
double percentage_of(JobPhase phase, double share);

/// How far a job is, for people.
struct RemoteProgress {
  std::string job_id{};
  std::string worker_id{};
  JobPhase phase = JobPhase::started;
  std::string message{};
  double share = 0;  // of its audio, 0..1
  Seconds elapsed{};
};

inline constexpr int kStatusVersion = 1;

/// status.json: the note's fields, and the version of this schema.
std::string progress_json(const RemoteProgress& progress, std::chrono::system_clock::time_point now);

/// "progress/JOB/status.json".
std::string progress_key(const std::string& job_id);

}  // namespace tutti
