#include "metrics/recording_request.h"

#include "base/environment.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr const char* kRecording = "TUTTI_RECORDING";
constexpr const char* kWarmUp = "TUTTI_RECORDING_WARM_UP";
constexpr const char* kSpedUp = "TUTTI_EXPERIMENT";
constexpr const char* kTrace = "TUTTI_TRACED_AT";

RecordingRequest& request_of_process() {
  static RecordingRequest request;
  return request;
}

}  // namespace

RecordingRequest RecordingRequest::of_environment() {
  return {.recording = variable(kRecording).value_or(""),
          .warm_up = number_in<int>(variable(kWarmUp).value_or("")).value_or(0),
          .sped_up = variable(kSpedUp).value_or(""),
          .trace = variable(kTrace).value_or("")};
}

std::vector<std::pair<std::string, std::string>> RecordingRequest::environment() const {
  return {{kRecording, recording.string()}, {kWarmUp, std::to_string(warm_up)}, {kSpedUp, sped_up}, {kTrace, trace}};
}

void set_recording_request(RecordingRequest request) {
  request_of_process() = std::move(request);
}

const RecordingRequest& recording_request() {
  return request_of_process();
}

}  // namespace tutti
