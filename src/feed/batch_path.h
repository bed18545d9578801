#pragma once

#include <string_view>

#include "base/error.h"
#include "feed/batch.h"
#include "flow/pipeline.h"

namespace tutti {

/// The part of a feed that makes batches of samples. One way reads every sample when its turn comes, the other gathers
/// whole batches out of a packed set; both yield the same.
class BatchPath {
 public:
  virtual ~BatchPath() = default;

  /// Goes on behind a position, whose prefix is checked and gone. Before `add_stages`. Fault::corrupt for what is none.
  virtual Result<void> restore(std::string_view position) = 0;
  /// The stages that make the batches. The path outlives the pipeline's threads.
  virtual Reader<Batch> add_stages(Pipeline& pipeline) = 0;
  /// Ends every wait of the stages. Thread-safe.
  virtual void close() {}
  /// Counts as waiting what a stage waited inside its own function. Thread-safe.
  virtual void correct(PipelineReport&) const {}
};

}  // namespace tutti
