#pragma once

#include <utility>

#include "metrics/recording_request.h"

namespace tutti {

/// Requests a recording, a trace or an experiment of this process until the end of the test. Not while other threads
/// run.
class ScopedRecording {
 public:
  explicit ScopedRecording(RecordingRequest request) : before_(recording_request()) {
    set_recording_request(std::move(request));
  }
  ScopedRecording(const ScopedRecording&) = delete;
  ScopedRecording& operator=(const ScopedRecording&) = delete;
  ~ScopedRecording() { set_recording_request(before_); }

 private:
  const RecordingRequest before_;
};

}  // namespace tutti
