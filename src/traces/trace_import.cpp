#include "traces/trace_import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

Error no_work_in(const std::string& file) {
  return {Fault::missing, file + ": no work of a device is in it: expected kernels or copies with their times",
          "Record the run on a GPU, with ProfilerActivity.CUDA"};
}

Result<std::optional<int>> read_trace(const std::filesystem::path& file, TraceCollector& collector) {
  if (is_sqlite(file)) return read_nsight(file, collector).map([] { return std::optional<int>(); });
  auto text = TRY(open_text(file));
  return read_kineto(std::move(text), file.string(), collector);
}

void warn_of_lost(const std::string& file, std::size_t events) {
  if (events == 0) return;
  log(Level::warning, file + ": " + std::to_string(events) + (events == 1 ? " event" : " events") + " without a time " +
                          (events == 1 ? "was" : "were") +
                          " left out: no start, no end, or one that is far from all others");
}

/// The number behind the last "rank" of a name: "rank10.pt.trace.json", "run-Rank_3".
std::optional<int> rank_of_name(const std::string& name) {
  const std::string small = ascii_lower(name);
  for (auto at = small.rfind("rank"); at != std::string::npos;
       at = at > 0 ? small.rfind("rank", at - 1) : std::string::npos) {
    auto begin = at + 4;
    if (begin < small.size() && std::string_view("_-.= ").find(small[begin]) != std::string_view::npos) ++begin;
    auto end = begin;
    while (end < small.size() && is_ascii_digit(static_cast<unsigned char>(small[end]))) ++end;
    if (const auto rank = number_in<int>(std::string_view(small).substr(begin, end - begin))) return rank;
  }
  return {};
}

/// By the file's name, or that of its folder.
std::optional<int> rank_of_path(const std::filesystem::path& file) {
  if (const auto rank = rank_of_name(file.filename().string())) return rank;
  return rank_of_name(std::filesystem::absolute(file).parent_path().filename().string());
}

/// What a file has of its devices.
struct ReadTrace {
  std::string name;
  std::optional<int> rank{};          // of its only process
  std::optional<int> rank_by_name{};  // the same, where the trace itself has none
  std::vector<TracedDevice> devices{};
};

Result<ReadTrace> devices_of(const std::filesystem::path& file, const TraceOptions& options) {
  ReadTrace trace{.name = file.string()};
  TraceCollector collector(options);
  const auto rank = TRY(read_trace(file, collector));
  auto devices = collector.finish();
  if (!devices) return fail_in(trace.name, devices.error());
  warn_of_lost(trace.name, collector.left_out());
  if (std::ranges::all_of(*devices, [](const auto& it) { return it.trace.span <= 0; }))
    return tl::unexpected(no_work_in(trace.name));
  const int process = devices->front().process;
  const bool is_alone = std::ranges::all_of(*devices, [&](const auto& it) { return it.process == process; });
  trace.rank = rank;
  if (!trace.rank && is_alone) trace.rank_by_name = rank_of_path(file);
  trace.devices = std::move(*devices);
  for (TracedDevice& device : trace.devices) {
    device.file = trace.name;
    device.left_out = collector.left_out();
  }
  return trace;
}

/// Files are of the ranks in their names, where no two are of the same: then they are of several nodes or runs.
void take_ranks_of_names(std::vector<ReadTrace>& traces, std::map<int, std::string>& ranks) {
  std::map<int, std::string> all = ranks;
  for (const ReadTrace& trace : traces)
    if (trace.rank_by_name && !all.emplace(*trace.rank_by_name, trace.name).second) return;
  ranks = std::move(all);
  for (ReadTrace& trace : traces)
    if (trace.rank_by_name) trace.rank = trace.rank_by_name;
}

/// Gives the processes of a file without a rank the next ones that no other has, from `next` on.
void count_processes(ReadTrace& trace, int next, std::map<int, std::string>& ranks) {
  std::map<std::int32_t, int> processes;
  for (TracedDevice& device : trace.devices) {
    const auto [process, is_new] = processes.try_emplace(device.process, next);
    while (is_new && !ranks.emplace(process->second, trace.name).second) ++process->second;
    if (is_new) next = process->second + 1;
    device.rank = process->second;
  }
}

}  // namespace

Result<std::vector<TracedDevice>> import_traces(const std::vector<std::filesystem::path>& files,
                                                const TraceOptions& options) {
  std::vector<ReadTrace> traces;
  std::map<int, std::string> ranks;
  for (const auto& file : files) {
    auto trace = TRY(devices_of(file, options));
    if (trace.rank) {
      const auto [other, is_new] = ranks.emplace(*trace.rank, trace.name);
      if (!is_new)
        return fail(Fault::usage,
                    other->second + " and " + trace.name + " are both of rank " + std::to_string(*trace.rank),
                    "Expected is one file a rank, of one run");
    }
    traces.push_back(std::move(trace));
  }
  take_ranks_of_names(traces, ranks);
  std::vector<TracedDevice> all;
  int counted = 0;  // processes until here
  for (ReadTrace& trace : traces) {
    if (!trace.rank) count_processes(trace, counted, ranks);
    std::set<std::int32_t> processes;
    for (TracedDevice& device : trace.devices) {
      if (trace.rank) device.rank = *trace.rank;
      processes.insert(device.process);
      all.push_back(std::move(device));
    }
    counted += static_cast<int>(processes.size());
  }
  std::ranges::stable_sort(all, std::less(), &TracedDevice::rank);
  return all;
}

}  // namespace tutti
