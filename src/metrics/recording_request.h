#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// What `tutti profile`, or a command's --trace, requests of a run: the whole of what they share with it. It travels in
/// the environment, so that all processes of a run have it. A program's main reads it there, once; what is below takes
/// it from recording_request().
struct RecordingRequest {
  std::filesystem::path recording{};  ///< a file that is not there yet, for the recording of the run; empty: none
  int warm_up = 0;                    ///< steps of a training that go before its recording
  std::string sped_up{};  ///< the stage of `flow` that is to work twice as fast (an experiment); empty: none
  std::string trace{};    ///< SharedTrace::address of the trace that all processes write; empty: none

  /// That of this process's environment.
  static RecordingRequest of_environment();
  /// The variables with which of_environment() is the same in a child.
  std::vector<std::pair<std::string, std::string>> environment() const;
};

/// Called first thing in main, and by what requests a trace of its own process.
void set_recording_request(RecordingRequest request);

/// That of this process: nothing, unless its main has set one. Without a request recording costs nothing. Any thread
/// may call it once main has set it.
const RecordingRequest& recording_request();

}  // namespace tutti
