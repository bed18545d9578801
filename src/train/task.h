#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "model/compute_device.h"
#include "train/parameter.h"
#include "train/row_ids.h"

namespace tutti {

/// Mel frames of batches as they are computed.
struct FrameCounts {
  std::int64_t computed = 0;   // rows times the length that all rows of a batch have
  std::int64_t padding = 0;    // frames of `computed` that are no audio of their row's own
  std::int64_t filled_up = 0;  // part of `padding`: fills batches up to the window, on purpose, that could be shorter

  FrameCounts& operator+=(const FrameCounts& more);
  bool operator==(const FrameCounts&) const = default;
  /// The share of all frames, 0 to 1.
  double padding_share() const;
  /// The same, had nothing been filled up on purpose.
  double needed_share() const;
};

/// A batch as a task computes it. Every input has one row per id, so that any rows of it are a batch again.
struct TaskBatch {
  RowIds ids{};
  std::vector<at::Tensor> inputs{};  // on the CPU, the data device, or copied to the task's
  std::int64_t targets = 0;          // what the loss is a mean over: target tokens
  std::int64_t recordings = 0;       // rows that begin one: of those that were cut, the first piece alone
  FrameCounts frames{};
  std::vector<std::pair<std::string, std::string>> refused{};  // ids that could not be taken, and why
};

/// What an evaluation of a task's network comes to.
struct TaskScores {
  double rank = 0;                                        // the lower, the better the network
  std::vector<std::pair<std::string, double>> metrics{};  // for curves, by name
  std::string text{};                                     // one line for people
  std::string remark{};                                   // behind it: what could not be evaluated; empty: nothing
  std::string json{};                                     // one object on one line, for OUT/metrics.jsonl
};

/// Where a task's batches are made ready, beside its steps.
struct DataStage {
  at::Device device = at::kCPU;  // where `Task::prepare` computes
  ThreadCores cores{};           // of the thread that calls it
  bool counts_apart = false;     // the thread's tensors on a CPU are a data device's (count_as_data_memory)
};

/// What is learned: a network and its loss. The trainer knows nothing else of it. One thread, and one that prepares the
/// batches ahead.
class Task {
 public:
  virtual ~Task() = default;

  /// The tensors that gradients are for.
  virtual const std::vector<Parameter>& trained() const = 0;
  virtual at::Device device() const = 0;
  /// Where `prepare` is to be called; the host's cores, unless a task takes features from a device.
  virtual DataStage data_stage() const { return {}; }

  /// Beside everything else: it reads nothing that training changes. The tensors outlive `batch`: they may share its
  /// memory, and then hold it.
  virtual TaskBatch prepare(const Batch& batch) = 0;
  /// The loss of rows on the task's device, summed over their targets: [] float32. `dropout` where the network learns.
  virtual at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) = 0;

  /// Everything a folder of the network needs beside its weights: config.json, tokenizer.json, ...
  virtual std::map<std::string, std::string> files(const std::string& weight_type) const = 0;
  /// All weights as they are now, under the names other programs know; tensors are shared where nothing is added.
  virtual std::vector<Parameter> weights() const = 0;
};

}  // namespace tutti
