#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "train/optimiser_step/row_limit.h"
#include "train/optimiser_step/step.h"

namespace tutti {

/// How far a training has come: all that a checkpoint keeps beside tensors. Random numbers are drawn by step and
/// sample, so their state is the step's number.
struct TrainingState {
  std::int64_t step = 0;   // steps taken, left out ones included
  std::int64_t epoch = 0;  // epoch of the last batch used
  std::int64_t samples = 0;
  std::int64_t recordings = 0;  // that began among them
  std::int64_t left_out = 0;    // steps that were no finite number
  std::int32_t left_out_in_row = 0;
  StepState numbers{};
  double best_score = std::numeric_limits<double>::infinity();  // lowest error rate, or loss
  std::int64_t best_step = 0;
  std::int32_t without_progress = 0;     // evaluations since then
  std::int64_t evaluated_step = 0;       // step of the last whole evaluation
  std::string evaluator{};               // what evaluations are by, TrainerOptions::evaluator
  std::int64_t model_step = 0;           // whose network is in OUT/model, where evaluations choose it
  bool evaluation_due = false;           // that of this step had not ended, or was cut short by an interruption
  bool has_due_work = false;             // the feed failed before it was known whether this step ends an epoch
  double seconds = 0;                    // working time so far
  std::vector<std::string> positions{};  // position of each process's feed behind the last batch used; empty: at start
  std::vector<RowLimit> row_limits{};    // row limit of each process
};

/// As training.json keeps it, and back: Fault::corrupt where something that must be there is not.
std::string show_state(const TrainingState& state);
Result<TrainingState> read_state(std::string_view json);

}  // namespace tutti
