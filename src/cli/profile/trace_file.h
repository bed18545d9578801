#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/output_ownership.h"
#include "cli/temporary_folder.h"
#include "metrics/event_trace.h"

namespace tutti {

/// The file that --trace names, and the folder in which processes write their parts of it. It is claimed before the
/// run, so that no run is made for a trace that cannot be written.
class TraceFile {
 public:
  /// `file`: empty: none is wanted. Fault::usage where it is one of `inputs`, or is there and no such trace.
  Result<void> claim(const std::filesystem::path& file, const std::vector<std::string>& inputs) {
    file_ = file;
    if (file.empty()) return {};
    for (const std::string& input : inputs)
      if (is_there(input)) owned_.add_input(input);
    if (auto claimed = owned_.claim_marked(file, "--trace", kPerfettoMark); !claimed) return claimed;
    parts_.emplace();
    return parts_->path().map([](const auto&) {});
  }

  bool is_wanted() const { return !file_.empty(); }

  /// What a command needs in its environment to be traced.
  std::map<std::string, std::string> environment() const {
    if (!is_wanted()) return {};
    return {{kTraceVariable, parts_->path()->string()}};
  }
  /// Has this process be traced. Call it before the first pipeline, while there is one thread.
  void trace_this_process() const {
    for (const auto& [name, value] : environment()) ::setenv(name.c_str(), value.c_str(), 1);
  }

  /// Behind the run: all parts as one file.
  Result<void> write(const std::string& command) const {
    if (!is_wanted()) return {};
    const auto joined = join_traces(*parts_->path(), command);
    if (!joined) return tl::unexpected(joined.error());
    const auto all = MappedFile::open(*joined);
    if (!all) return tl::unexpected(all.error());
    return owned_.write(file_, all->text()).map([](bool) {});
  }

 private:
  std::filesystem::path file_{};
  OutputOwnership owned_{"Name another file with --trace"};
  std::optional<TemporaryFolder> parts_{};
};

}  // namespace tutti
