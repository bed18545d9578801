#pragma once

#include <vector>

#include "train/optimiser_step/step.h"
#include "train/parameter.h"
#include "train/task.h"

namespace tutti {

/// The averages of the weights replace the weights for as long as this object exists.
class AveragesInPlace {
 public:
  /// Where memory is too short for that, it throws what is_out_of_memory recognises, and the weights are as they were.
  AveragesInPlace(const Task& task, const TrainStep& step);
  AveragesInPlace(const AveragesInPlace&) = delete;
  ~AveragesInPlace() { exchange(); }

 private:
  void exchange();

  const std::vector<Parameter>& trained_;
  const std::vector<Parameter>& averages_;
  at::Tensor kept_;  // on the host, as large as the largest: a weight while its average replaces it
};

}  // namespace tutti
