#include "metrics/prometheus.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Prometheus, TextHasOneHeaderPerNameAndEscapesWhatItMust) {
  const std::vector<MetricSnapshot> metrics{
      {{"files_total", {{"path", "a\\b\"c\nd"}}}, "Files\ndone \\o/", std::uint64_t{3}},
      {{"files_total", {{"path", "b"}}}, "ignored", std::uint64_t{4}},
      {{"free_bytes"}, "Free memory", 1.5}};
  EXPECT_EQ(prometheus_text(metrics),
            "# HELP files_total Files\\ndone \\\\o/\n"
            "# TYPE files_total counter\n"
            "files_total{path=\"a\\\\b\\\"c\\nd\"} 3\n"
            "files_total{path=\"b\"} 4\n"
            "# HELP free_bytes Free memory\n"
            "# TYPE free_bytes gauge\n"
            "free_bytes 1.5\n");
}

TEST(Prometheus, AHistogramBecomesASummary) {
  Histogram seconds;
  for (int i = 0; i < 4; ++i) seconds.record(2);
  const std::vector<MetricSnapshot> metrics{
      {{"step_seconds", {{"device", "x"}}}, "Time of a step", seconds.snapshot()}};
  EXPECT_EQ(prometheus_text(metrics),
            "# HELP step_seconds Time of a step\n"
            "# TYPE step_seconds summary\n"
            "step_seconds{device=\"x\",quantile=\"0.5\"} 2\n"
            "step_seconds{device=\"x\",quantile=\"0.9\"} 2\n"
            "step_seconds{device=\"x\",quantile=\"0.99\"} 2\n"
            "step_seconds_sum{device=\"x\"} 8\n"
            "step_seconds_count{device=\"x\"} 4\n");
}

}  // namespace
}  // namespace tutti
