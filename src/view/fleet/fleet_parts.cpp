#include "view/fleet/fleet_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kJobBar = 12;
constexpr Seconds kFresh{3};    // samples come every second; older ones are marked
constexpr Seconds kLively{12};  // runners of other machines report every five seconds

std::string jobs_text(const DeviceStatus& d) {
  return std::to_string(d.jobs) + (d.most_jobs ? "/" + std::to_string(*d.most_jobs) : "");
}

std::string load_text(const std::optional<double>& load) {
  return load ? percent(*load) : "?";
}

/// Ours, and behind a plus what others hold, of all of it.
std::string memory_text(const DeviceStatus& d) {
  if (!d.own_memory && !d.total_memory) return "?";
  std::string text = d.own_memory ? gigabytes(*d.own_memory) : "?";
  if (d.foreign_memory && d.foreign_memory->value > 0) text += "+" + gigabytes(*d.foreign_memory);
  return text + (d.total_memory ? "/" + gigabytes(*d.total_memory) : "") + " GB";
}

/// Behind "~" what it is expected to do, until it has done something.
std::string speed_text(const DeviceStatus& d) {
  if (d.speed) return short_number(*d.speed) + "×";
  return d.usual_speed ? "~" + short_number(*d.usual_speed) + "×" : "-";
}

std::string state_text(const DeviceStatus& d) {
  const bool old = d.data_age && *d.data_age > kFresh;
  if (d.silent && *d.silent > kLively) return d.state + " (seen " + length_text(*d.silent) + " ago)";
  return d.state + (old ? " (data " + length_text(*d.data_age) + " old)" : "");
}

/// "GPU 0" for cuda:0, as in the field note's status line.
std::string note_name(const std::string& id) {
  return id.starts_with("cuda:") ? "GPU " + id.substr(5) : id;
}

/// Nothing is known for any device.
bool is_unknown(const TextTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].empty() || row[column] == "?"; });
}

void erase_column(TextTable& table, std::size_t column) {
  const auto erase = [&](auto& list) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(column)); };
  erase(table.columns);
  for (auto& row : table.rows) erase(row);
}

}  // namespace

Concern concern_of(std::string_view state) {
  constexpr std::array<std::string_view, 2> kWell{"healthy", "ok"};
  constexpr std::array<std::string_view, 6> kBad{"open", "quarantined", "lost", "hung", "failed", "away"};
  if (std::find(kWell.begin(), kWell.end(), state) != kWell.end()) return Concern::none;
  return std::find(kBad.begin(), kBad.end(), state) != kBad.end() ? Concern::alarm : Concern::notice;
}

Tint tint_of(Concern concern) {
  switch (concern) {
    case Concern::none: return Tint::plain;
    case Concern::notice: return Tint::notice;
    case Concern::alarm: return Tint::alarm;
  }
  return Tint::plain;
}

TextTable device_table(const std::vector<DeviceStatus>& devices, bool of_run) {
  TextTable table{.columns = {{"DEVICE", false, 0, true},
                              {"STATE", false, 0},
                              {"TASKS", true, 0},
                              {"LOAD", true, 2},
                              {"FOREIGN", true, 4},
                              {"MEMORY", true, 3},
                              {"SPEED", true, 0},
                              {"BUSY", true, 1},
                              {"W", true, 6},
                              {"°C", true, 5},
                              {"NAME", false, 7}}};
  for (const DeviceStatus& d : devices)
    table.rows.push_back({d.id, state_text(d), jobs_text(d), load_text(d.own_load), load_text(d.foreign_load),
                          memory_text(d), speed_text(d), load_text(d.busy_share),
                          d.watts ? short_number(*d.watts) : "?", d.celsius ? short_number(*d.celsius) : "?",
                          d.name == d.id ? std::string() : d.name});
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const bool of_runs = column == 2 || column == 6 || column == 7;  // jobs, speed, busy
    if (of_runs ? !of_run : is_unknown(table, column)) erase_column(table, column);
  }
  return table;
}

TextTable job_table(const std::vector<JobStatus>& jobs) {
  TextTable table{
      .columns = {{"TASK", false, 0, true}, {"", false, 2}, {"AUDIO", true, 0}, {"DEVICE", false, 1, true}}};
  for (const JobStatus& t : jobs) {
    const bool known = t.length && *t.length > Seconds(0);
    table.rows.push_back({t.name, bar_of(known ? t.done / *t.length : 0, kJobBar),
                          length_text(t.done) + "/" + (known ? length_text(*t.length) : "?"),
                          t.device.empty() ? t.waiting_for : t.device});
  }
  return table;
}

std::string left_text(const FleetStatus& status) {
  if (!status.left) return {};
  const std::string band =
      status.left_error && *status.left_error >= Seconds(1) ? " ± " + length_text(*status.left_error) : "";
  return length_text(*status.left) + band + " left";
}

std::string reason_text(const DeviceStatus& device) {
  if (device.reason.empty()) return device.memory_limit;
  return device.reason + (device.since > Seconds(0) ? ", for " + length_text(device.since) : "") +
         (device.memory_limit.empty() ? "" : "; " + device.memory_limit);
}

std::string fleet_line(const FleetStatus& status) {
  std::string line;
  for (const DeviceStatus& d : status.devices) {
    line += (line.empty() ? "" : " | ") + note_name(d.id) + ": " + jobs_text(d) + " tasks, ";
    const auto load = d.load || !d.own_load ? d.load : std::optional(*d.own_load + d.foreign_load.value_or(0));
    line += (load ? std::to_string(std::lround(100 * *load)) : "?") + "% util";
    if (concern_of(d.state) != Concern::none) line += " (" + d.state + ")";
  }
  if (!status.next_device.empty()) line += " -> next: " + note_name(status.next_device);
  return line;
}

}  // namespace tutti
