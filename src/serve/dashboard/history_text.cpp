#include "serve/dashboard/history_text.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "view/charts.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

std::string date_text(StoreTime time) {
  return local_text(time, "%Y-%m-%d %H:%M");
}

std::string percent(double share) {
  return short_number(100 * share) + " %";
}

/// Audio seconds per second; 0 where nothing was done.
double speed_of(const RunRecord& run) {
  // The run of a service has no devices: its time is that of the server, whatever there was to do.
  const bool measured = run.end.elapsed.count() > 0 && !run.end.devices.empty();
  return measured ? run.end.audio / run.end.elapsed : 0;
}

void add(std::vector<std::string>& lines, const std::string& heading, const TextTable& table, std::size_t width) {
  if (table.rows.empty()) return;
  if (!lines.empty()) lines.emplace_back();
  lines.push_back(heading);
  for (auto& line : lay_out(table, width)) lines.push_back(std::move(line));
}

/// Nothing where nothing was done.
std::string times_text(double speed) {
  return speed > 0 ? short_number(speed) : "";
}

/// Of a run that has not ended. Those of earlier versions had no heartbeat.
std::string state_text(const RunRecord& run) {
  switch (state_of(run)) {
    case RunState::at_work: return "at work";
    case RunState::lost: return "lost";
    default: return "not ended";
  }
}

TextTable run_table(const std::vector<RunRecord>& runs) {
  TextTable table{.columns = {{.title = "run", .right = true},
                              {.title = "started"},
                              {.title = "took", .right = true},
                              {.title = "done", .right = true},
                              {.title = "failed", .right = true, .rank = 1},
                              {.title = "audio", .right = true},
                              {.title = "x real time", .right = true},
                              {.title = "model", .rank = 1},
                              {.title = "devices", .right = true, .rank = 2},
                              {.title = "command", .rank = 3, .stretch = true}}};
  for (const auto& run : runs) {
    const bool ended = run.ended.has_value();
    table.rows.push_back({std::to_string(run.id), date_text(run.started),
                          ended ? length_text(run.end.elapsed) : state_text(run),
                          ended ? std::to_string(run.end.successful) + "/" + std::to_string(run.end.total) : "",
                          ended ? std::to_string(run.end.failed) : "", ended ? length_text(run.end.audio) : "",
                          times_text(speed_of(run)), run.start.model, std::to_string(run.end.devices.size()),
                          without_controls(run.start.command)});
  }
  return table;
}

/// Audio seconds per second that the device was busy; 0 where it did nothing.
double speed_of(const DeviceUse& use) {
  return use.busy.count() > 0 ? use.audio / use.busy : 0;
}

/// "waiting_for_input" as people read it.
std::string words_of(std::string reason) {
  std::ranges::replace(reason, '_', ' ');
  return reason;
}

/// A device over several runs.
struct DeviceSum {
  DeviceUse use{};
  int runs = 0;
  Seconds elapsed{};
};

std::map<std::string, DeviceSum> sums_of(const std::vector<RunRecord>& runs) {
  std::map<std::string, DeviceSum> sums;
  for (const auto& run : runs)
    for (const auto& use : run.end.devices) {
      DeviceSum& sum = sums[use.device];
      ++sum.runs;
      sum.elapsed += run.end.elapsed;
      if (sum.use.name.empty()) sum.use.name = use.name;
      sum.use.audio += use.audio;
      sum.use.busy += use.busy;
      for (const auto& [reason, time] : use.idle) sum.use.idle[reason] += time;
      if (use.energy_joules) sum.use.energy_joules = sum.use.energy_joules.value_or(0) + *use.energy_joules;
      if (use.cost) sum.use.cost = sum.use.cost.value_or(0) + *use.cost;
    }
  return sums;
}

TextTable device_table(const std::vector<RunRecord>& runs) {
  TextTable table{.columns = {{.title = "device"},
                              {.title = "name", .rank = 2},
                              {.title = "runs", .right = true},
                              {.title = "audio", .right = true},
                              {.title = "busy", .right = true},
                              {.title = "x real time", .right = true},
                              {.title = "energy", .right = true, .rank = 1},
                              {.title = "cost", .right = true, .rank = 1},
                              {.title = "mostly idle for", .rank = 3}}};
  for (const auto& [device, sum] : sums_of(runs)) {
    const auto worst = std::ranges::max_element(sum.use.idle, {}, [](const auto& reason) { return reason.second; });
    table.rows.push_back(
        {device, sum.use.name, std::to_string(sum.runs), length_text(sum.use.audio),
         sum.elapsed.count() > 0 ? percent(sum.use.busy / sum.elapsed) : "", times_text(speed_of(sum.use)),
         sum.use.energy_joules ? energy_text(*sum.use.energy_joules) : "",
         sum.use.cost ? money_text(*sum.use.cost) : "",
         worst == sum.use.idle.end() ? "" : words_of(worst->first) + " (" + length_text(worst->second) + ")"});
  }
  return table;
}

std::map<SpeedKey, std::vector<const SpeedRecord*>> by_key(const std::vector<SpeedRecord>& speeds) {
  std::map<SpeedKey, std::vector<const SpeedRecord*>> keys;
  for (const auto& speed : speeds) keys[speed.key].push_back(&speed);
  return keys;
}

TextTable speed_table(const std::vector<SpeedRecord>& speeds) {
  TextTable table{.columns = {{.title = "device"},
                              {.title = "model"},
                              {.title = "type", .rank = 1},
                              {.title = "at once", .right = true},
                              {.title = "x real time", .right = true},
                              {.title = "first", .right = true, .rank = 2},
                              {.title = "per file", .right = true, .rank = 2},
                              {.title = "error", .right = true},
                              {.title = "measured", .rank = 1}}};
  for (const auto& [key, records] : by_key(speeds)) {
    const SpeedRecord& now = *records.back();
    table.rows.push_back({key.device, key.model, key.compute_type, std::to_string(key.concurrency),
                          short_number(now.speed), short_number(records.front()->speed),
                          now.overhead > Seconds(0) ? short_number(now.overhead.count()) + " s" : "",
                          now.median_error ? percent(*now.median_error) : "", date_text(now.at)});
  }
  return table;
}

/// The latest events of several runs; all events of one run.
TextTable event_table(const std::vector<DeviceEvent>& events, bool all) {
  constexpr std::size_t kShown = 20;
  TextTable table{.columns = {{.title = "when"},
                              {.title = "run", .right = true, .rank = 1},
                              {.title = "device"},
                              {.title = "what"},
                              {.title = "why", .stretch = true}}};
  const std::size_t first = events.size() > kShown && !all ? events.size() - kShown : 0;
  for (std::size_t i = first; i < events.size(); ++i)
    table.rows.push_back({local_text(events[i].at), events[i].run > 0 ? std::to_string(events[i].run) : "",
                          events[i].device, events[i].kind, events[i].text});
  return table;
}

/// "Recordings of /out as of now: 37 done, 2 failed, 1 waiting": also what later runs did counts.
std::string now_line(const JobCounts& jobs, const std::string& batch) {
  const std::pair<std::int64_t, const char*> parts[] = {{jobs.done, "done"},           {jobs.dead, "failed"},
                                                        {jobs.cancelled, "cancelled"}, {jobs.running, "in work"},
                                                        {jobs.queued, "waiting"},      {jobs.held, "held"}};
  std::string text;
  for (const auto& [count, what] : parts)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  return "Recordings of " + batch + " as of now: " + (text.empty() ? "none" : text);
}

/// What was measured in each run: a point per run for every device, and for all together.
std::vector<TimeSeries> run_series(const std::vector<RunRecord>& runs) {
  TimeSeries whole{.label = "whole runs"};
  std::map<std::string, TimeSeries> devices;
  for (auto at_run = runs.rbegin(); at_run != runs.rend(); ++at_run) {
    const RunRecord& run = *at_run;
    if (!run.ended) continue;
    const double at = unix_seconds(run.started);
    if (speed_of(run) > 0) whole.points.push_back({at, speed_of(run)});
    for (const auto& use : run.end.devices) {
      TimeSeries& device = devices[use.device];
      device.label =
          use.device + (use.name.empty() || use.name == use.device ? "" : " (" + use.name + ")") + ", by run";
      if (speed_of(use) > 0) device.points.push_back({at, speed_of(use)});
    }
  }
  std::vector<TimeSeries> series{std::move(whole)};
  for (auto& [id, device] : devices) series.push_back(std::move(device));
  std::erase_if(series, [](const TimeSeries& each) { return each.points.empty(); });
  return series;
}

}  // namespace

std::vector<std::string> history_tables(const History& history, std::size_t width) {
  std::vector<std::string> lines;
  add(lines, "Runs, latest first", run_table(history.runs), width);
  add(lines, "Devices in these runs", device_table(history.runs), width);
  add(lines, "Speeds", speed_table(history.speeds), width);
  add(lines, "Events", event_table(history.events, history.runs.size() == 1), width);
  if (history.now) lines.push_back(now_line(*history.now, history.runs.front().start.batch));
  return lines;
}

std::string history_svg(const History& history) {
  std::vector<TimeSeries> series = run_series(history.runs);
  for (const auto& [key, records] : by_key(history.speeds)) {
    TimeSeries device{.label = key.device + ", " + key.model + " " + key.compute_type + ", " +
                               std::to_string(key.concurrency) + " at once"};
    for (const SpeedRecord* record : records) device.points.push_back({unix_seconds(record->at), record->speed});
    series.push_back(std::move(device));
  }
  return time_chart_svg("Speed over time: audio seconds per second", series, Seconds(7 * 86400));
}

}  // namespace tutti
