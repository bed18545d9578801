#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "cloud/job_message.h"
#include "runner/held_messages.h"
#include "runner/kept_windows.h"
#include "transcribe/recording_attempt.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// One job in work, from its message to its end. Its length is the message's estimate until its audio is there.
/// Thread-safe.
class RemoteAttempt : public RecordingAttempt {
 public:
  RemoteAttempt(std::size_t its_index, HeldMessages::Token its_token, int its_receives, JobMessage its_message)
      : RecordingAttempt(Seconds(its_message.estimated_duration_seconds)),
        index(its_index),
        token(its_token),
        receives(its_receives),
        message(std::move(its_message)) {}

  Seconds elapsed() const { return Clock::real().now() - started_; }
  JobStatus status() const {
    JobStatus status{.id = message.job_id, .name = message.s3_input_path, .done = position(), .length = length()};
    if (const auto on = devices())
      status.device = *on;
    else
      status.waiting_for = is_decoded() ? "the model is loaded" : "its audio is fetched and decoded";
    return status;
  }

  const std::size_t index;
  const HeldMessages::Token token;
  const int receives;  // of its message, this one included
  EarlierWindows earlier{};
  Guarded<std::shared_ptr<KeptWindows>> windows{};  // in front of its engine, once there is one
  Guarded<std::string> input_etag{};                // of the recording as it was fetched
  const JobMessage message;                         // its retry_count is that of SQS

 private:
  const Clock::Instant started_ = Clock::real().now();
};

/// Those in work. Thread-safe.
class RemoteAttempts {
 public:
  void add(const std::shared_ptr<RemoteAttempt>& attempt) {
    all_.with([&](auto& all) { all[attempt->index] = attempt; });
  }
  /// It is there until `remove`.
  std::shared_ptr<RemoteAttempt> at(std::size_t index) const {
    return all_.with([&](const auto& all) { return all.at(index); });
  }
  void remove(std::size_t index) {
    const auto gone = all_.with([&](auto& all) { return all.extract(index); });  // it goes under no lock
  }
  std::vector<std::shared_ptr<RemoteAttempt>> all() const {
    return all_.with([](const auto& all) {
      std::vector<std::shared_ptr<RemoteAttempt>> list;
      for (const auto& [index, attempt] : all) list.push_back(attempt);
      return list;
    });
  }

 private:
  Guarded<std::map<std::size_t, std::shared_ptr<RemoteAttempt>>> all_{};
};

}  // namespace tutti
