#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "recipe/training_recipe.h"
#include "train/optimiser.h"
#include "train/peers/peers.h"
#include "train/task.h"

namespace tutti {

struct StepOptions {
  StepPrecision precision = StepPrecision::float32;
  double clip = 1;  // 0: never
  double ema = 0;   // decay; 0: no average
  std::uint64_t seed = 0;
};

struct StepOutcome {
  double loss = 0;           // mean over the targets of the whole step
  double gradient_norm = 0;  // before clipping
  bool finite = true;        // false: the step was left out, nothing has changed
  std::int64_t targets = 0;
  std::int64_t samples = 0;
  std::int64_t recordings = 0;  // that begin among them
  FrameCounts frames{};
  std::int64_t shapes = 0;      // that batches had in all steps of this process, pieces of batches included
  std::int64_t new_shapes = 0;  // those that no earlier step had
};

/// Numbers of a step that a checkpoint keeps.
struct StepState {
  bool is_scaled = false;         // whether the loss is, as with float16: its scale may have come down to 1
  double loss_scale = 65536;      // scale of the loss with float16; 1 with any other precision
  std::int64_t scaled_steps = 0;  // finite ones since it last changed
};

/// One step of training: the gradient of the mean over all targets of a group of batches, clipped, and AdamW with it.
/// However a group is cut into batches, and however often memory makes it be cut again, the mean is the same. One
/// thread.
class TrainStep {
 public:
  /// peers: those who take the same step with other samples, and outlive it; null: none. Then the mean is over the
  /// targets of all of them, and all end with the same weights.
  TrainStep(Task& task, const AdamWOptions& adamw, StepOptions options, Peers* peers = nullptr);

  /// `number` counts from 1 and seeds the dropout. The group may be empty where peers have samples. Throws what torch
  /// throws; where not even one row fits, an error that memory ran out (model/gpu/out_of_memory.h).
  StepOutcome run(std::span<const TaskBatch> group, std::int64_t number, double rate);

  /// The optimiser's tensors and the averages ("NAME.ema").
  std::vector<Parameter> tensors() const;
  const std::vector<Parameter>& averages() const { return averages_; }
  const StepState& state() const { return state_; }
  /// Goes on with the numbers of a checkpoint, which may be of another precision.
  void resume(const StepState& before);
  /// Whether an overflow is no fault of the samples: float16 finds the scale of its loss by trying.
  bool seeks_scale() const { return options_.precision == StepPrecision::float16 && state_.loss_scale > 1; }
  /// Rows that are computed together where memory ran out.
  std::optional<std::int64_t> row_limit() const { return row_limit_; }
  /// Computes at most so many together from now on, at least one.
  void limit_rows(std::int64_t rows) { row_limit_ = rows; }

 private:
  at::Tensor accumulate(std::span<const TaskBatch> group, std::int64_t targets, std::int64_t number);
  at::Tensor accumulate_in_memory(std::span<const TaskBatch> group, std::int64_t targets, std::int64_t number);
  void note_shape(const std::vector<at::Tensor>& inputs);
  at::Tensor backward(const TaskBatch& batch, std::int64_t targets);
  void add_up(StepOutcome& outcome);
  void add_up_gradients(at::Tensor& loss);
  void unscale(bool finite);
  void average();

  Task& task_;
  AdamW adamw_;
  StepOptions options_;
  Peers* peers_;
  StepState state_{};
  std::vector<Parameter> averages_{};
  std::optional<std::int64_t> row_limit_{};
  std::set<std::vector<std::int64_t>> shapes_{};  // sizes of all inputs, one behind the other
};

/// What a GPU of that compute capability (75: Turing) lacks for products in that precision, for people; empty: nothing,
/// or the capability is not known (0).
std::string unsupported_reason(StepPrecision precision, int capability);

}  // namespace tutti
