#pragma once

#include <vector>

#include "train/network/parameters.h"
#include "train/optimiser_step/step.h"
#include "train/task.h"

namespace tutti {

/// The averages of the weights take the weights' place for as long as this lives.
class AveragesInPlace {
 public:
  /// Where memory is too short for that, what is thrown says so (is_out_of_memory), and the weights are as they were.
  AveragesInPlace(const Task& task, const TrainStep& step);
  AveragesInPlace(const AveragesInPlace&) = delete;
  ~AveragesInPlace() { exchange(); }

 private:
  void exchange();

  const std::vector<Parameter>& trained_;
  const std::vector<Parameter>& averages_;
  at::Tensor kept_;  // on the host, as large as the largest: a weight while its average takes its place
};

}  // namespace tutti
