#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "train/plan/dry_run.h"
#include "train/plan/training_memory.h"
#include "train/plan/training_plan.h"
#include "view/table.h"

namespace tutti {

/// What a training takes of one GPU. Pure text of it is below.
struct PlannedTraining {
  PlannedGpu gpu{};
  std::string setting{};  ///< flag that the training gets beside; empty: none
  CountedMemory memory{};
  FittedBatch batch{};
};

/// The lines of a table.
std::string in_lines(const TextTable& table);
/// The same; what is the same in all rows is a line behind them.
std::string in_lines_without_constants(TextTable table);

/// A line a batch: the largest batch, and what it takes.
std::string batch_table(const std::vector<PlannedTraining>& planned);
/// An object of the same figures, in bytes.
nlohmann::ordered_json json_of(const PlannedTraining& planned, std::int64_t ring_depth);

/// "16", or "does not fit".
std::string batch_text(const FittedBatch& batch);
/// What a step held. `what`: of which network, such as "a step of this network". `samples`: their word, such as
/// "windows".
std::string dry_run_text(const DryRun& run, const std::string& what, const std::string& samples);
/// An object: `samples` is its key for their number.
nlohmann::ordered_json json_of(const DryRun& run, const std::string& samples);

/// What the columns ring, network and in all mean.
inline constexpr const char* kColumnsText =
    "recommended: the largest power of two that leaves 15 % of the memory free, for other programs and what an\n"
    "allocator cannot use. ring: batches that are ready beside the step's. network: weights, gradients, AdamW's\n"
    "averages. ring, activations and in all are of the largest batch; in all: with 537 MB for the driver, which is an\n"
    "estimate. float32. Where a batch does not fit after all, the training splits it, and its steps stay the same.\n\n";

}  // namespace tutti
