#include "device/telemetry/metrics.h"

#include <gtest/gtest.h>

#include "metrics/prometheus.h"

namespace tutti {
namespace {

TEST(SnapshotMetrics, AreSeriesOfBaseUnitsLabelledWithTheUuid) {
  GpuSnapshot gpu{.uuid = "GPU-a", .state = GpuState::hung};
  gpu.name = "NVIDIA L4";
  gpu.memory.foreign = Bytes{1000};
  gpu.utilisation.own = 0.25;
  gpu.energy = 1.5;
  gpu.clocks.sm = 1.5e9;
  gpu.pcie.sent = 2048;
  gpu.throttled_by = throttle_reasons(0x4);
  gpu.errors.xids.emplace();
  (*gpu.errors.xids)[79] = {.count = 2, .last = std::chrono::system_clock::time_point(std::chrono::seconds(100))};
  MachineSnapshot all{.number = 1, .gpus = {gpu}};
  all.wall_clock = std::chrono::system_clock::time_point(std::chrono::seconds(200));
  all.host.core_busy = {0.5, std::nullopt};
  all.host.disks = {{.path = "/secret", .free = Bytes{7}, .read = 2.5}};
  const std::string text = prometheus_text(snapshot_metrics(all));
  for (const char* line : {"tutti_gpu_info{gpu_uuid=\"GPU-a\",name=\"NVIDIA L4\",pci_bus_id=\"\"} 1\n",
                           "tutti_gpu_state{gpu_uuid=\"GPU-a\",state=\"hung\"} 1\n",
                           "tutti_gpu_state{gpu_uuid=\"GPU-a\",state=\"ok\"} 0\n",
                           "tutti_gpu_memory_foreign_bytes{gpu_uuid=\"GPU-a\"} 1000\n",
                           "tutti_gpu_own_utilization_ratio{gpu_uuid=\"GPU-a\"} 0.25\n",
                           "tutti_gpu_energy_joules_total{gpu_uuid=\"GPU-a\"} 1.5\n",
                           "tutti_gpu_clock_hertz{gpu_uuid=\"GPU-a\",domain=\"sm\"} 1.5e+09\n",
                           "tutti_gpu_pcie_bytes_per_second{gpu_uuid=\"GPU-a\",direction=\"sent\"} 2048\n",
                           "tutti_gpu_throttle_active{gpu_uuid=\"GPU-a\",reason=\"sw_power_cap\"} 1\n",
                           "tutti_gpu_xid_total{gpu_uuid=\"GPU-a\",xid=\"79\"} 2\n",
                           "tutti_gpu_xid_last_timestamp_seconds{gpu_uuid=\"GPU-a\",xid=\"79\"} 100\n",
                           "tutti_host_core_busy_ratio{core=\"0\"} 0.5\n", "tutti_host_disk_free_bytes{disk=\"0\"} 7\n",
                           "tutti_host_disk_bytes_per_second{disk=\"0\",direction=\"read\"} 2.5\n",
                           "tutti_collect_last_success_timestamp_seconds 200\n", "# TYPE tutti_gpu_xid_total counter\n",
                           "# TYPE tutti_gpu_clock_hertz gauge\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  for (const char* absent : {"tutti_gpu_power_watts", "core=\"1\"", "tutti_gpu_memory_total_bytes", "NaN",
                             "direction=\"written\"", "/secret"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
}

TEST(SnapshotMetrics, SeveralGpusShareOneHeaderPerName) {
  MachineSnapshot all{.number = 1, .gpus = {{.uuid = "GPU-a"}, {.uuid = "GPU-b"}}};
  const std::string text = prometheus_text(snapshot_metrics(all));
  std::size_t headers = 0;
  for (auto at = text.find("# TYPE tutti_gpu_info"); at != std::string::npos;
       at = text.find("# TYPE tutti_gpu_info", at + 1))
    ++headers;
  EXPECT_EQ(headers, 1u);
}

}  // namespace
}  // namespace tutti
