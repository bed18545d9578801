#pragma once

#include <cstdint>

namespace tutti {

/// Which epochs have given a batch. A set of which nothing can be used would be read for ever where epochs have no end:
/// one whole epoch without a batch shows it.
class GivenEpochs {
 public:
  /// Epochs from this one on are whole; of those before it an interrupted run may have given everything.
  void expect_whole_from(std::int64_t epoch) { first_whole_ = epoch; }
  /// A batch that holds something was handed on; epochs come in their order.
  void note(std::int64_t epoch) { last_ = epoch; }
  /// Once all epochs before `epoch` are through: whether the last of them was whole and gave nothing.
  bool was_empty_before(std::int64_t epoch) const { return epoch > first_whole_ && last_ < epoch - 1; }

 private:
  std::int64_t first_whole_ = 0;
  std::int64_t last_ = -1;  // none yet
};

}  // namespace tutti
