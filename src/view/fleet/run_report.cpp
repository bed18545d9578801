#include "view/fleet/run_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "view/fleet/lost_time.h"
#include "view/table.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

using Lines = std::vector<std::string>;

std::string first_line(const RunNumbers& run) {
  std::string line = std::to_string(run.done) + (run.done == 1 ? " recording done" : " recordings done");
  if (run.copied > 0) line += ", " + std::to_string(run.copied) + " of them copied";
  if (run.failed > 0) line += ", " + std::to_string(run.failed) + " failed";
  if (run.cancelled > 0) line += ", " + std::to_string(run.cancelled) + " cancelled";
  line += ": " + length_text(run.audio) + " of audio in " + length_text(run.elapsed);
  if (run.elapsed > Seconds(0)) line += ", " + short_number(run.audio / run.elapsed) + " × real time";
  return line;
}

/// "waiting for input 5 %, fault 2 %": the largest first, below 1 % left out.
std::string idle_text(const DeviceTime& device, Seconds elapsed) {
  std::vector<std::pair<Seconds, std::string_view>> parts;
  for (const LostKind& kind : lost_kinds()) parts.emplace_back(device.idle.*kind.time, kind.name);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [time, name] : parts)
    if (time >= 0.005 * elapsed && time > Seconds(0))
      text += (text.empty() ? "" : ", ") + std::string(name) + " " + percent(time / elapsed);
  return text.empty() ? "-" : text;
}

Lines device_lines(const RunNumbers& run) {
  const bool rated =
      std::ranges::any_of(run.devices, [](const DeviceTime& device) { return device.rated.has_value(); });
  TextTable table{.columns = {{"device", false}, {"busy", true}, {"audio", true}, {"speed", true}, {"idle", false}}};
  if (rated) table.columns.insert(table.columns.end() - 1, {"rated", true});
  const auto times = [](const std::optional<double>& speed) { return speed ? short_number(*speed) + " ×" : "-"; };
  for (const DeviceTime& device : run.devices) {
    auto& row = table.rows.emplace_back();
    row = {device.id, run.elapsed > Seconds(0) ? percent(device.busy / run.elapsed) : "-", length_text(device.audio),
           times(measured_speed(device)), idle_text(device, run.elapsed)};
    if (rated) row.insert(row.end() - 1, times(device.rated));
  }
  Lines lines = lay_out(table, 200);
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    line.insert(0, "  ");
  }
  return lines;
}

/// "no job 12 %, slower than rated 5 %": all that is missing to 100 %, but for what rounds to nothing.
std::string losses_text(const RunNumbers& run) {
  std::string text;
  for (const auto& [name, share] : losses_of(run))
    if (share >= 0.005) text += (text.empty() ? "" : ", ") + name + " " + percent(share);
  return text;
}

std::string efficiency_line(const RunNumbers& run, Seconds bound) {
  std::string line = "Efficiency " + percent(bound / run.elapsed) + ": the same work takes these devices at least " +
                     length_text(bound);
  if (!run.shared_files && bound > work_bound(run)) line += " (the longest recording alone on the fastest device)";
  std::string uncounted;
  for (const DeviceTime& device : run.devices)
    if (!speed_of(device)) uncounted += (uncounted.empty() ? "" : ", ") + device.id;
  if (!uncounted.empty()) line += ", without " + uncounted + ": its speed is not known";
  if (run.stopped) line += "; what was in work when it was stopped does not count";
  const std::string rest = losses_text(run);
  if (bound <= work_bound(run) && !rest.empty()) line += ". The rest: " + rest;
  return line;
}

std::string compared(const std::string& was, const std::string& quoted, double ratio) {
  const auto off = std::lround(100 * (ratio - 1));
  const std::string sign = off > 0 ? "+" : "";
  const bool alike = off == 0 || was == quoted;  // a difference of less than a second, say
  return was + " instead of " + quoted + (alike ? "" : " (" + sign + std::to_string(off) + " %)");
}

/// One number against its quote, or alone where none was given.
void add_number(std::string& line, const char* name, const std::optional<double>& was,
                const std::optional<double>& quoted, const std::function<std::string(double)>& show) {
  if (!was) return;
  line += std::string(line.empty() ? "" : "; ") + name;
  line += quoted && *quoted > 0 ? compared(show(*was), show(*quoted), *was / *quoted) : show(*was);
}

Lines quote_lines(const RunNumbers& run) {
  const RunQuote& quote = run.quote;
  const auto seconds_of = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->count()) : std::nullopt;
  };
  std::string line;
  if (quote.time)
    add_number(line, "", run.elapsed.count(), seconds_of(quote.time), [](double s) { return length_text(Seconds(s)); });
  add_number(line, "", run.energy_joules, quote.energy_joules, energy_text);
  add_number(line, "cost ", run.cost, quote.cost, money_text);
  if (line.empty()) return {};
  const bool quoted = quote.time || quote.energy_joules || quote.cost;
  std::string per_hour;
  if (run.cost && run.audio > Seconds(0))
    per_hour = "; " + money_text(*run.cost / (run.audio.count() / 3600)) + " per hour of audio";
  return {(quoted ? "Against the plan: " : "Spent: ") + line + per_hour};
}

}  // namespace

std::vector<std::string> run_report(const RunNumbers& run) {
  Lines lines{first_line(run)};
  if (run.elapsed <= Seconds(0) || run.devices.empty()) return lines;
  for (const auto& line : device_lines(run)) lines.push_back(line);
  if (const auto bound = lower_bound(run); bound && *bound > Seconds(0)) lines.push_back(efficiency_line(run, *bound));
  for (const Remedy& remedy : remedies(run)) lines.push_back("  " + remedy.text);
  for (const auto& line : quote_lines(run)) lines.push_back(line);
  if (run.done > 0 && run.copied == run.done)
    lines.emplace_back(
        "All of it was copied from recordings with the same content: there is no plan to compare it with");
  return lines;
}

}  // namespace tutti
