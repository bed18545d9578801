#include <algorithm>
#include <functional>
#include <numeric>

#include "base/strings.h"
#include "view/fleet/fleet_parts.h"
#include "view/text.h"
#include "view/top/top_state.h"

namespace tutti {
namespace {

/// Larger comes first; what is not known comes last.
using SortKey = std::function<double(std::size_t row)>;

double known(const std::optional<double>& value) {
  return value.value_or(-1);
}
double known(const std::optional<Bytes>& value) {
  return value ? static_cast<double>(value->value) : -1;
}

PanelRows device_rows(const TopData& data) {
  PanelRows rows{.table = device_table(data.devices, data.run.has_value())};
  for (const DeviceStatus& device : data.devices) {
    rows.ids.push_back(device.id);
    rows.tints.push_back(tint_of(concern_of(device.state)));
  }
  return rows;
}

SortKey device_key(const TopData& data, std::size_t sort) {
  return [&data, sort](std::size_t row) {
    const DeviceStatus& d = data.devices[row];
    return sort == 1 ? known(d.own_load) : sort == 2 ? known(d.own_memory) : known(d.speed ? d.speed : d.usual_speed);
  };
}

PanelRows job_rows(const TopData& data) {
  const auto& jobs = data.run ? data.run->in_work : std::vector<JobStatus>{};
  PanelRows rows{.table = job_table(jobs)};
  for (const JobStatus& job : jobs) {
    rows.ids.push_back(job.id.empty() ? job.name : job.id);
    rows.tints.push_back(job.device.empty() ? Tint::faint : Tint::plain);
  }
  return rows;
}

SortKey job_key(const TopData& data, std::size_t sort) {
  return [&data, sort](std::size_t row) {
    const JobStatus& t = data.run->in_work[row];
    const double length = t.length.value_or(Seconds(-1)).count();
    return sort == 1 ? length : length - t.done.count();
  };
}

PanelRows failure_rows(const TopData& data) {
  PanelRows rows{
      .table = {.columns = {{"TASK", false, 0, false}, {"DEVICE"}, {"TRIES", true, 1}, {"WHY", false, 0, true}}}};
  if (!data.run) return rows;
  for (const JobFailure& f : data.run->failures) {
    rows.table.rows.push_back({fitted(f.name, std::min<std::size_t>(columns_of(f.name), 28), true), f.device,
                               std::to_string(f.attempts), f.error});
    rows.ids.push_back(f.name);
    rows.tints.push_back(Tint::alarm);
  }
  return rows;
}

PanelRows process_rows(const TopData& data) {
  PanelRows rows{.table = {.columns = {{"PID", true},
                                       {"NAME", false, 0, true},
                                       {"OURS", false, 2},
                                       {"CORES", true, 0},
                                       {"RAM GB", true, 0},
                                       {"DEVICE", false, 1},
                                       {"GPU GB", true, 1}}}};
  for (const ProcessStatus& p : data.processes) {
    rows.table.rows.push_back({std::to_string(p.pid), p.name, p.own ? "yes" : "",
                               p.cores ? short_number(*p.cores) : "?", p.resident ? gigabytes(*p.resident) : "?",
                               p.device, p.device_memory ? gigabytes(*p.device_memory) : ""});
    rows.ids.push_back(std::to_string(p.pid));
    rows.tints.push_back(p.own ? Tint::plain : Tint::faint);
  }
  return rows;
}

SortKey process_key(const TopData& data, std::size_t sort) {
  return [&data, sort](std::size_t row) {
    const ProcessStatus& p = data.processes[row];
    return sort == 1 ? known(p.cores) : sort == 2 ? known(p.resident) : known(p.device_memory);
  };
}

PanelRows all_rows(const TopData& data, TopPanel panel) {
  switch (panel) {
    case TopPanel::devices: return device_rows(data);
    case TopPanel::jobs: return job_rows(data);
    case TopPanel::failures: return failure_rows(data);
    case TopPanel::processes: return process_rows(data);
  }
  return {};
}

SortKey key_of(const TopData& data, const TopState& state) {
  switch (state.panel) {
    case TopPanel::devices: return device_key(data, state.sort);
    case TopPanel::jobs: return job_key(data, state.sort);
    case TopPanel::processes: return process_key(data, state.sort);
    case TopPanel::failures: break;
  }
  return [](std::size_t) { return 0.0; };
}

bool matches(const std::vector<std::string>& cells, const std::string& filter) {
  const std::string wanted = ascii_lower(filter);
  return std::any_of(cells.begin(), cells.end(),
                     [&](const std::string& cell) { return ascii_lower(cell).find(wanted) != std::string::npos; });
}

}  // namespace

std::vector<std::string> sort_names(TopPanel panel) {
  switch (panel) {
    case TopPanel::devices: return {"order", "load", "memory", "speed"};
    case TopPanel::jobs: return {"order", "length", "time left"};
    case TopPanel::failures: return {"order"};
    case TopPanel::processes: return {"order", "cores", "memory", "GPU memory"};
  }
  return {};
}

PanelRows panel_rows(const TopData& data, const TopState& state) {
  const PanelRows all = all_rows(data, state.panel);
  std::vector<std::size_t> order(all.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (state.sort > 0) {
    const SortKey key = key_of(data, state);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  }
  PanelRows rows{.table = {.columns = all.table.columns}};
  for (const std::size_t row : order) {
    if (!matches(all.table.rows[row], state.filter)) continue;
    rows.table.rows.push_back(all.table.rows[row]);
    rows.ids.push_back(all.ids[row]);
    rows.tints.push_back(all.tints[row]);
  }
  return rows;
}

}  // namespace tutti
