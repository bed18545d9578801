#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/batch/batch_flags.h"
#include "cli/cloud/cloud_flags.h"
#include "settings/option_table.h"

namespace tutti {

/// The command line of `tutti worker`. The field note's flags keep their meaning; what concerns model and transcript is
/// transcribe's.
struct WorkerCommand {
  std::string store{};  // a store on a server that machines share, instead of a queue
  double lease = 60;    // seconds, of jobs of such a store
  std::string output_format = "all";
  std::string queue_url{};
  std::string s3_bucket{};
  CloudFlags cloud{};
  std::filesystem::path temp_dir{};
  double idle_timeout = 5;  // minutes
  std::string on_idle{};
  bool cpu_only = false;
  bool cpu_fallback = false;
  std::int32_t visibility = 120;  // seconds
  std::int32_t prefetch = 4;
  double drain_seconds = 100;
  std::filesystem::path log_dir{};

  std::string engine{};                // a command line; empty: tutti-engine
  std::optional<OtherEngine> other{};  // that engine, once it has reported what it takes
  TranscribeCommand speech{};
  bool sequential = false;
  std::string devices{};
  std::int32_t threads = 0;
  PriceFlags prices{};
  std::filesystem::path state{};
};

/// Binds every field to its flag.
void add_worker(OptionTable& table, WorkerCommand& command);

/// Fault::usage names the flag, what was expected and what was found.
Result<void> check_worker(OptionTable& table, const WorkerCommand& command);

/// The devices that --devices and --cpu-only name. Without either: every GPU. Fault::missing where there is none and
/// --cpu-fallback is not given: a machine with a broken driver is not to work at a fifteenth of its speed unseen.
Result<std::vector<ChosenDevice>> devices_of_worker(const WorkerCommand& command);

}  // namespace tutti
