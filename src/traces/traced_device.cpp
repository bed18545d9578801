#include "traces/traced_device.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "view/table.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 140;

double ms(Nanoseconds time) {
  return static_cast<double>(time) / 1e6;
}

double share(Nanoseconds part, const DeviceTrace& trace) {
  return trace.span > 0 ? static_cast<double>(part) / static_cast<double>(trace.span) : 0;
}

/// The rank that the others wait for.
struct SlowestRank {
  std::size_t device = 0;  ///< its index among the devices
  int rank = 0;
  double lag = 0;  ///< how much longer it needs for its own part than the median rank, as a share of that
  bool by_steps = false;
};

/// What a rank needs for its own part, in ms: in a collective call it waits for others, so this does not count.
double own_time(const TracedDevice& device, bool by_steps) {
  const double own = 1 - share(device.trace.communication, device.trace);
  return own * ms(by_steps ? device.steps.length : device.trace.span);
}

std::optional<SlowestRank> slowest_of(const std::vector<TracedDevice>& devices) {
  std::set<int> ranks;
  for (const TracedDevice& device : devices) ranks.insert(device.rank);
  if (ranks.size() < 2) return {};
  SlowestRank slowest{.by_steps = std::ranges::all_of(devices, [](const auto& it) { return it.steps.length > 0; })};
  std::vector<std::pair<double, std::size_t>> times;
  for (std::size_t i = 0; i < devices.size(); ++i) times.emplace_back(own_time(devices[i], slowest.by_steps), i);
  std::ranges::stable_sort(times, std::less(), [](const auto& time) { return time.first; });
  const double median = times[(times.size() - 1) / 2].first;
  slowest.device = times.back().second;
  slowest.rank = devices[slowest.device].rank;
  if (median > 0) slowest.lag = times.back().first / median - 1;
  return slowest;
}

/// The names of the devices' files, without their folders where that is enough to tell them apart. In their order.
std::vector<std::string> short_files(const std::vector<TracedDevice>& devices) {
  std::map<std::string, std::set<std::string>> paths;
  const auto name_of_file = [](const TracedDevice& device) {
    return std::filesystem::path(device.file).filename().string();
  };
  for (const TracedDevice& device : devices) paths[name_of_file(device)].insert(device.file);
  const bool is_enough = std::ranges::all_of(paths, [](const auto& name) { return name.second.size() == 1; });
  std::vector<std::string> files;
  for (const TracedDevice& device : devices)
    files.push_back(without_controls(is_enough ? name_of_file(device) : device.file));
  return files;
}

std::string device_name(const TracedDevice& device) {
  return (device.process > 0 ? "process " + std::to_string(device.process) + ", " : std::string()) + "device " +
         std::to_string(device.device);
}

std::string finding_text(const TracedDevice& device, bool has_many) {
  const TraceFinding found = finding_of(device.trace);
  std::string text = has_many ? "Rank " + std::to_string(device.rank) + ", " + device_name(device) + ": " : "";
  text += found.cause + " limits it: " + percent(found.share);
  switch (found.limit) {
    case TraceLimit::host_wait: text += " of the time the device waited for the host to launch work"; break;
    case TraceLimit::kernel_wait: text += " of the time went by between kernels that follow one another"; break;
    case TraceLimit::other: text += " of the time the device was idle with its work already launched"; break;
    case TraceLimit::communication: text += " of the time the device only communicated with other ranks"; break;
    case TraceLimit::copying: text += " of the time the device only copied"; break;
    case TraceLimit::device: text += " of the time the device worked"; break;
  }
  if (found.gain > 0) text += "; without that it is up to " + fixed_text(100 * found.gain, 0) + " % faster";
  return text + ". " + found.change + ".\n";
}

Json idle_json(const IdleSplit& idle, const auto& value) {
  return {{"host_wait", value(idle.host_wait)}, {"kernel_wait", value(idle.kernel_wait)}, {"other", value(idle.other)}};
}

Json json_of(const TracedDevice& device) {
  const DeviceTrace& trace = device.trace;
  const TraceFinding found = finding_of(trace);
  const auto part = [&](Nanoseconds time) { return share(time, trace); };
  Json json{{"rank", device.rank},
            {"file", device.file},
            {"device", device.device},
            {"steps", device.steps.count},
            {"step_ms", ms(device.steps.length)},
            {"steps_by", name_of(device.step_source)},
            {"device_busy", part(trace.busy)},
            {"idle", idle_json(trace.idle, part)},
            {"span_ms", ms(trace.span)},
            {"communication", part(trace.communication)},
            {"copying", part(trace.copying)},
            {"data_loading", part(trace.data_loading)},
            {"synchronising", part(trace.synchronising)},
            {"left_out", device.left_out},
            {"limit", name_of(found.limit)},
            {"cause", found.cause},
            {"gain", found.gain},
            {"change", found.change},
            {"streams", Json::array()}};
  for (const auto& [stream, idle] : trace.streams) {
    Json one{{"stream", stream}};
    one.update(idle_json(idle, ms));
    json["streams"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string_view name_of(StepSource source) {
  switch (source) {
    case StepSource::named: return "--step";
    case StepSource::profiler: return "ProfilerStep#";
    case StepSource::optimizer: return "Optimizer.step#";
    case StepSource::pattern: return "repeated kernels";
    case StepSource::none: break;
  }
  return "none";
}

std::string trace_text(const std::vector<TracedDevice>& devices) {
  TextTable table{.columns = {{"rank", true},
                              {"device", true},
                              {"steps", true},
                              {"ms a step", true},
                              {"busy", true},
                              {"host wait", true},
                              {"kernel wait", true},
                              {"other", true},
                              {"communication", true},
                              {"limit"},
                              {"file", false, 0, true}}};
  const auto files = short_files(devices);
  for (const TracedDevice& device : devices) {
    const DeviceTrace& trace = device.trace;
    const auto part = [&](Nanoseconds time) { return percent(share(time, trace)); };
    table.rows.push_back({std::to_string(device.rank), std::to_string(device.device),
                          device.steps.count > 0 ? std::to_string(device.steps.count) : "",
                          device.steps.length > 0 ? short_number(ms(device.steps.length)) : "", part(trace.busy),
                          part(trace.idle.host_wait), part(trace.idle.kernel_wait), part(trace.idle.other),
                          part(trace.communication), finding_of(trace).cause, files[table.rows.size()]});
  }
  std::string text;
  for (std::string& line : lay_out(table, kWidth)) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const bool has_many = devices.size() > 1;
  const auto slowest = slowest_of(devices);
  if (slowest)
    text += "Rank " + std::to_string(slowest->rank) + " (" + files[slowest->device] +
            ") is the slowest: for its own part " + (slowest->by_steps ? "of a step" : "of the trace") + " it needs " +
            fixed_text(100 * slowest->lag, 0) + " % longer than the median rank\n";
  for (const TracedDevice& device : devices)
    if (!slowest || device.rank == slowest->rank) text += finding_text(device, has_many);
  return text;
}

std::string trace_json(const std::vector<TracedDevice>& devices) {
  Json json{{"ranks", Json::array()}, {"slowest", nullptr}};
  for (const TracedDevice& device : devices) json["ranks"].push_back(json_of(device));
  if (const auto slowest = slowest_of(devices))
    json["slowest"] = {{"rank", slowest->rank},
                       {"file", devices[slowest->device].file},
                       {"lag", slowest->lag},
                       {"by", slowest->by_steps ? "step" : "span"}};
  return json_line(json);
}

}  // namespace tutti
