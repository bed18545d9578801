#include "metrics/registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "metrics/prometheus.h"

namespace tutti {
namespace {

TEST(Registry, TheSameIdIsTheSameMetricWhateverTheOrderOfItsLabels) {
  Registry registry;
  auto& a = registry.counter({"files_total", {{"device", "x"}, {"kind", "y"}}}, "Files done");
  auto& b = registry.counter({"files_total", {{"kind", "y"}, {"device", "x"}}}, "Files done");
  auto& other = registry.counter({"files_total", {{"device", "z"}}}, "Files done");
  a.add();
  b.add(2);
  EXPECT_EQ(a.value(), 3u);
  EXPECT_EQ(other.value(), 0u);
  EXPECT_EQ(registry.snapshot().size(), 2u);
}

TEST(Registry, ANameKeepsItsKindAndMustBeOne) {
  Registry registry;
  registry.counter({"files_total", {{"device", "x"}}}, "Files done");
  EXPECT_THROW(registry.gauge({"files_total"}, "Files done"), std::logic_error);
  EXPECT_THROW(registry.gauge({"files total"}, "Files done"), std::invalid_argument);
  EXPECT_THROW(registry.gauge({"9files"}, "Files done"), std::invalid_argument);
  EXPECT_THROW(registry.gauge({""}, "Files done"), std::invalid_argument);
}

TEST(Registry, ThreadsThatCountAndLookUpAtOnceLoseNothing) {
  Registry registry;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          registry.counter({"events_total"}, "Events").add();
          registry.gauge({"level"}, "Level").add(0.5);
          EXPECT_LE(registry.snapshot().size(), 2u);
        }
      });
  }
  EXPECT_EQ(registry.counter({"events_total"}, "Events").value(), 4000u);
  EXPECT_EQ(registry.gauge({"level"}, "Level").value(), 2000.0);
}

TEST(Prometheus, TextHasOneHeaderPerNameAndEscapesWhatItMust) {
  Registry registry;
  registry.counter({"files_total", {{"path", "a\\b\"c\nd"}}}, "Files\ndone \\o/").add(3);
  registry.counter({"files_total", {{"path", "b"}}}, "ignored").add(4);
  registry.gauge({"free_bytes"}, "Free memory").set(1.5);
  EXPECT_EQ(prometheus_text(registry.snapshot()),
            "# HELP files_total Files\\ndone \\\\o/\n"
            "# TYPE files_total counter\n"
            "files_total{path=\"a\\\\b\\\"c\\nd\"} 3\n"
            "files_total{path=\"b\"} 4\n"
            "# HELP free_bytes Free memory\n"
            "# TYPE free_bytes gauge\n"
            "free_bytes 1.5\n");
}

TEST(Prometheus, AHistogramBecomesASummary) {
  Registry registry;
  auto& seconds = registry.histogram({"step_seconds", {{"device", "x"}}}, "Time of a step");
  for (int i = 0; i < 4; ++i) seconds.record(2);
  EXPECT_EQ(prometheus_text(registry.snapshot()),
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
