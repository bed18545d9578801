#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tutti {

/// What `tutti profile --pipeline` was called with. Flags that exclude one another are refused before.
struct PipelineCommand {
  std::filesystem::path file{};  ///< the description, TOML
  bool json = false;
  std::filesystem::path html{};                  ///< also write the profile as this page; empty: none
  std::filesystem::path trace{};                 ///< also trace the run into this file; empty: none
  bool experiment = false;                       ///< also run it once for each stage, with that one twice as fast
  bool simulate = false;                         ///< predict only
  std::string apply{};                           ///< changes to the description, comma-separated
  bool tune = false;                             ///< find threads and queues within the budgets
  std::optional<std::int32_t> threads_budget{};  ///< threads of all stages; none: what the file has
  std::optional<std::int32_t> queue_budget{};    ///< items of all queues; none: what the file has
};

/// Without `simulate` and `tune` the run is real; where the description does not explain it, it runs a second time,
/// because the machine may have been too busy.
///
/// Runs, predicts or tunes a described pipeline, prints the result on standard output and returns the exit code: kUsage
/// where the file, a change or a budget is not valid, kNothingRan where the run could not be made.
///
/// For tests of ourselves, TUTTI_PROFILE_SLOWED=STAGE=FACTOR makes a stage that much slower than described. Then the
/// description must not explain the run.
int run_described(const PipelineCommand& command);

}  // namespace tutti
