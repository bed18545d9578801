#include "traces/trace_import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tutti {
namespace {

Error no_work_in(const std::string& file) {
  return {Fault::missing, file + ": no work of a device is in it: expected kernels or copies with their times",
          "Record the run on a GPU, with ProfilerActivity.CUDA"};
}

Result<std::optional<int>> read_trace(const std::filesystem::path& file, TraceCollector& collector) {
  if (is_sqlite(file)) return read_nsight(file, collector).map([] { return std::optional<int>(); });
  auto text = open_text(file);
  if (!text) return tl::unexpected(text.error());
  return read_kineto(std::move(*text), file.string(), collector);
}

}  // namespace

Result<std::vector<TracedDevice>> import_traces(const std::vector<std::filesystem::path>& files,
                                                const TraceOptions& options) {
  std::vector<TracedDevice> all;
  std::map<int, std::string> named;  // ranks that files name
  int counted = 0;                   // processes of the files until here
  for (const auto& file : files) {
    const std::string name = file.string();
    TraceCollector collector(options);
    const auto rank = read_trace(file, collector);
    if (!rank) return tl::unexpected(rank.error());
    auto devices = collector.finish();
    if (!devices) return fail_in(name, devices.error());
    if (devices->empty()) return tl::unexpected(no_work_in(name));
    if (*rank) {
      const auto [other, is_new] = named.emplace(**rank, name);
      if (!is_new)
        return fail(Fault::usage, other->second + " and " + name + " are both of rank " + std::to_string(**rank),
                    "Expected is one file a rank, of one run");
    }
    std::set<std::int32_t> processes;
    for (TracedDevice& device : *devices) {
      processes.insert(device.process);
      device.rank = rank->value_or(counted + static_cast<int>(processes.size()) - 1);
      device.file = name;
      all.push_back(std::move(device));
    }
    counted += static_cast<int>(processes.size());
  }
  std::ranges::stable_sort(all, std::less(), &TracedDevice::rank);
  return all;
}

}  // namespace tutti
