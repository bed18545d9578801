#include "transcribe/worker_stage.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/units.h"

namespace tutti {

StageReport measured_stage(const char* name, HistogramSnapshot service, int threads) {
  StageReport stage{};
  stage.name = name;
  stage.threads.busy = threads;
  stage.times.busy = std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(service.sum));
  stage.service = std::move(service);
  stage.output.limits.items = 1;
  return stage;
}

void WorkerStage::note(const TimeSpent& spent) {
  features_.record(spent.features.count());
  device_.record(spent.worker().count());
}

void WorkerStage::add_to(PipelineReport& report, std::string_view waiting, int devices) const {
  const auto found = std::ranges::find(report.stages, waiting, &StageReport::name);
  const int threads = found == report.stages.end() ? 1 : std::max(1, found->threads.all());
  report.stages.push_back(measured_stage(kFeatures, features_.snapshot(), threads));
  report.stages.push_back(measured_stage(kDevice, device_.snapshot(), devices));
}

}  // namespace tutti
