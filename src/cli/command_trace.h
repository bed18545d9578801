#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "metrics/shared_trace.h"
#include "settings/option_table.h"

namespace tutti {

/// Binds --trace.
void add_trace(OptionTable& table, std::filesystem::path& file);

/// Claims the file that --trace names, if any. Fault::usage where the command reads it or writes it otherwise, where it
/// is there and no trace of ours, and where it is a pipe.
Result<void> claim_trace(OutputOwnership& files, const std::filesystem::path& file);

/// The trace that --trace of a command names: from `begin` until the end of this object the processes of the run write
/// it. It is no reason for a run to fail: what cannot be written is an error of the log at its end.
class CommandTrace {
 public:
  CommandTrace() = default;
  CommandTrace(const CommandTrace&) = delete;
  CommandTrace& operator=(const CommandTrace&) = delete;
  ~CommandTrace();

  /// Creates the file that `files` has claimed, in place of an earlier trace; empty: none is wanted. Called last before
  /// the work, when all else is checked, and while this process has one thread. Errors: the file cannot be made.
  Result<void> begin(const std::filesystem::path& file, const OutputOwnership& files, const std::string& command);

  /// The same of a file that is only now claimed, beside what the command reads.
  Result<void> begin_beside(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& file,
                            const std::string& command);

 private:
  std::filesystem::path file_{};
  std::int64_t head_ = 0;  // its bytes before anything happened
  std::unique_ptr<SharedTrace> trace_{};
};

}  // namespace tutti
