#include "metrics/recording_request.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/environment.h"

namespace tutti {
namespace {

TEST(RecordingRequest, ChildReadsWhatItsParentRequests) {
  const RecordingRequest request{
      .recording = "/tmp/a recording.json", .warm_up = 3, .sped_up = "decode", .trace = "/proc/1/fd/7:/proc/1/fd/8"};
  std::deque<ScopedVariable> variables;
  for (const auto& [name, value] : request.environment()) variables.emplace_back(name.c_str(), value.c_str());
  const auto read = RecordingRequest::of_environment();
  EXPECT_EQ(read.recording, request.recording);
  EXPECT_EQ(read.warm_up, 3);
  EXPECT_EQ(read.sped_up, "decode");
  EXPECT_EQ(read.trace, request.trace);
}

TEST(RecordingRequest, NothingIsRequestedOfAProcessWhoseMainReadsNothing) {
  const ScopedVariable variable("TUTTI_RECORDING", "/tmp/recording.json");
  EXPECT_TRUE(recording_request().recording.empty()) << "a library does not look into the environment by itself";
  set_recording_request(RecordingRequest::of_environment());
  EXPECT_EQ(recording_request().recording, "/tmp/recording.json");
  set_recording_request({});
}

}  // namespace
}  // namespace tutti
