#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/prices/price_list.h"
#include "jobs/job.h"
#include "jobs/lease.h"
#include "jobs/publish.h"
#include "jobs/store_url.h"
#include "transcribe/pool/pool_options.h"
#include "transcript/writers.h"

namespace tutti {

class DoneCommand;

/// A recording to be transcribed and the files it becomes.
struct BatchJob {
  JobSpec spec{};
  std::vector<Format> formats{};

  /// In the order of the formats. Made on demand: kept, they are most of what a hundred thousand jobs take.
  std::vector<std::filesystem::path> outputs() const {
    std::vector<std::filesystem::path> all;
    for (const Format format : formats) all.emplace_back(spec.key + "." + std::string(extension(format)));
    return all;
  }
};

/// Everything a run of jobs needs to know beside its jobs, wherever they come from: its pool, and what history keeps.
struct JobRunOptions : PoolOptions {
  std::string command{};              // for history
  std::string batch{};                // what its jobs have in common: the output folder
  TuningPlan tuning{.is_on = false};  // whether, and within which memory, threads are chosen while it runs
  HourlyPrices prices{};              // by device id, for history and status
};

/// The same of a batch, and where things go.
struct BatchOptions : JobRunOptions {
  WriterOptions writer{};
  std::shared_ptr<DoneCommand> on_done{};  // run for each recording once its outputs are in place; null: none
  std::filesystem::path state{};           // the store's folder; with `server` what else is of this machine
  std::optional<StoreUrl> server{};        // where the store is instead: machines share it
  std::filesystem::path staging{};         // on the file system of the outputs
  std::filesystem::path kept{};            // where results are staged while that is full: in `state`; empty: nowhere
  std::chrono::milliseconds lease = kLeaseLength;  // after which others may take a job from a process that is gone
  bool retry_failed = false;                       // those that failed for good in an earlier run, too
  Existing existing = Existing::keep;  // what happens to files at the names of outputs that the store did not write
  std::shared_ptr<ObjectOutputs> objects{};  // by which outputs in buckets are reached

  StoreUrl store() const { return server.value_or(StoreUrl(state)); }
};

}  // namespace tutti
