#include "serve/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::HasSubstr;

TEST(ServerMetrics, JobsAreCountedByClassAndState) {
  const std::string text = prometheus_text(job_metrics(
      {{JobClass::interactive, JobState::queued, 3}, {JobClass::batch, JobState::running, 2}}, {.dead = 4}));
  EXPECT_THAT(text, HasSubstr("tutti_jobs{class=\"interactive\",state=\"queued\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("tutti_jobs{class=\"batch\",state=\"running\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("tutti_jobs{class=\"normal\",state=\"held\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("tutti_jobs_ended{state=\"failed\"} 4\n"));
}

TEST(ServerMetrics, DevicesHaveStateWindowsAndAudio) {
  FleetStatus fleet;
  fleet.devices = {{.id = "cuda:0", .state = "draining", .windows = 4, .audio_done = Seconds(90)}};
  const std::string text = prometheus_text(device_metrics(fleet));
  EXPECT_THAT(text, HasSubstr("tutti_device_state{device=\"cuda:0\",state=\"draining\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_device_windows{device=\"cuda:0\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("tutti_device_audio_seconds_total{device=\"cuda:0\"} 90\n"));
}

TEST(ServerMetrics, HttpRequestsAreCountedByPathAndStatus) {
  HttpCounts counts;
  for (const char* path : {"/v1/jobs/1/result", "/v1/jobs/2/result"})
    counts.add({.method = "GET", .path = path}, {.status = 200, .received = 1, .sent = 10});
  counts.add({.method = "GET", .path = "/v1/realtime"}, {.status = 101});
  counts.add({.method = "GET", .path = "/etc/passwd"}, {.status = 404});
  counts.add({}, {.status = 400});
  const std::string text = prometheus_text(counts.metrics());
  EXPECT_THAT(text, HasSubstr("tutti_http_requests_total{path=\"/v1/jobs/ID/result\",status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("tutti_http_requests_total{path=\"/v1/realtime\",status=\"101\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_http_requests_total{path=\"other\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_http_requests_total{path=\"other\",status=\"400\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tutti_http_received_bytes_total 2\n"));
  EXPECT_THAT(text, HasSubstr("tutti_http_sent_bytes_total 20\n"));
}
