#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/cost/price_flags.h"
#include "cli/transcribe_command.h"
#include "device/list/device_list.h"
#include "link/other_engine.h"
#include "settings/option_table.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// The command line of `tutti batch`. The field note's flags keep their meaning; what concerns model and transcript is
/// transcribe's.
struct BatchCommand {
  std::vector<std::string> inputs{};
  std::string engine{};                // a command line; empty: tutti-engine
  std::optional<OtherEngine> other{};  // that engine, once it has reported what it takes
  TranscribeCommand speech{};
  bool sequential = false;

  std::string devices{};                // comma-separated; --devices may be given again
  std::optional<std::string> device{};  // -d: only there
  bool experimental = false;
  std::string max_per_gpu{};
  std::string policy = "tutti";
  std::int32_t threads = 0;
  PriceFlags prices{};

  std::filesystem::path output_dir = ".";
  std::string output_format = "all";
  std::string name_by = "path";
  std::filesystem::path report{};
  std::filesystem::path trace{};
  std::filesystem::path state{};
  std::string store{};
  double lease = 60;  // seconds
  std::int32_t skip = 0;
  std::filesystem::path audio_root{};
  std::string path_template{};
  bool all_files = false;
  bool retry_failed = false;
  bool overwrite = false;
  bool yes = false;
  bool review = true;
  double device_patience = 600;
};

/// Binds every field to its flag, and makes --batched the default.
void add_batch(OptionTable& table, BatchCommand& command);

/// Where -d and --devices are both given, only the one from the stronger source counts: a flag wins over a variable.
void settle_devices(BatchCommand& command, SourceKind device, SourceKind devices);

/// "4" for every device, "0=4,GPU-1a2b=2,left=1" by index in the list, by the beginning of an id, or by name.
/// Fault::usage names the part that is not valid.
Result<std::map<std::string, int>> job_caps(const std::string& text, const std::vector<ChosenDevice>& devices);

/// The limits where the field note's policy is chosen and --max-per-gpu is not: its five jobs a device, and as many in
/// all as that makes unless -t sets a number. `tutti plan --simulate` calls it `note` (balance/simulator.h:
/// set_policy).
void limit_as_the_note(BatchOptions& options);

/// Kinds of devices that do not round alike, "NVIDIA L4 and the CPU", where there are several: whichever of them takes
/// a window, --deterministic or not, may decide its text. Empty: all are alike, or only played.
std::string unlike_kinds(const std::vector<ChosenDevice>& devices);

/// The devices that -d, --experimental and --devices together name, there or not. Fault::usage where they are not
/// valid, ::missing for a devices file that is not there.
Result<std::vector<ListedDevice>> devices_of(const BatchCommand& command);

}  // namespace tutti
