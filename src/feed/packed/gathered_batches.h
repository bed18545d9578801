#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "feed/bad_samples.h"
#include "feed/batch_path.h"
#include "feed/buffers.h"
#include "feed/packed/gather_plan.h"
#include "feed/packed/packed_set.h"

namespace tutti {

/// Whole batches out of a packed set, in two stages. `list` chooses the rows; `gather` copies them, several batches at
/// a time on threads of its own, or only lists what a device is to gather. The same batches as StreamedBatches with a
/// cache makes.
class GatheredBatches final : public BatchPath {
 public:
  /// `options` and `bad` outlive it; `prefix` goes in front of every position.
  GatheredBatches(const FeedOptions& options, std::shared_ptr<const PackedSet> set, BadSamples& bad,
                  std::string prefix);

  Result<void> restore(std::string_view position) override;
  Reader<Batch> add_stages(Pipeline& pipeline) override;

 private:
  std::optional<Result<GatherList>> list();
  Batch made(GatherList& list);
  Batch gather(const GatherList& list);
  bool holds(const PlannedSample& sample) const;

  const FeedOptions& options_;
  std::shared_ptr<const PackedSet> set_;
  BadSamples& bad_;
  std::string prefix_;
  BufferPool buffers_;
  Planner planner_;
  bool is_resumed_ = false;
  std::optional<GatherPlan> plan_{};
};

}  // namespace tutti
