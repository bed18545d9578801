#pragma once

#include <memory>
#include <optional>
#include <string>

#include "feed/bad_samples.h"
#include "feed/batch_path.h"
#include "feed/buffers.h"
#include "feed/feature_cache.h"
#include "feed/plan/board.h"
#include "feed/sample_order.h"
#include "feed/source/dataset.h"
#include "feed/stages/batch_stage.h"
#include "feed/stages/plan_stage.h"
#include "feed/stages/sample_stages.h"

namespace tutti {

/// Every sample is read when its turn comes, and goes through the stages on its own: order, probe, plan, read, decode,
/// resample, augment, features, batch.
class StreamedBatches final : public BatchPath {
 public:
  /// `options`, `set` and `bad` outlive it; `cache` may be null; `prefix` goes in front of every position.
  StreamedBatches(const FeedOptions& options, const Dataset& set, std::unique_ptr<FeatureCache> cache, BadSamples& bad,
                  std::string prefix);

  Result<void> restore(std::string_view position) override;
  Reader<Batch> add_stages(Pipeline& pipeline) override;
  void close() override;
  void correct(PipelineReport& report) const override;

 private:
  using Work = void (*)(SampleStages&, PendingSample&);
  Reader<RowPtr> planned_rows(Pipeline& pipeline);
  Probed probe(Probed&& sample) const;
  using Concerns = bool (PendingSample::*)() const;
  /// A stage that works on the rows it concerns and hands all of them on. It fails where the machine lacks something.
  Reader<RowPtr> step(Pipeline& pipeline, const char* name, Reader<RowPtr>&& in, int threads, Work work,
                      Concerns concerns = &PendingSample::is_wanted);

  const FeedOptions& options_;
  const Dataset& set_;
  std::unique_ptr<FeatureCache> cache_;
  BufferPool buffers_;
  PlanBoard board_;
  SampleStages stages_;
  PlanStage plan_;
  BatchStage batch_;
  std::optional<SampleOrder> order_{};
};

}  // namespace tutti
