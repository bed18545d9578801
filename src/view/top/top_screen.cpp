#include "view/top/top_screen.h"

#include <algorithm>
#include <array>

#include "view/fleet/fleet_parts.h"
#include "view/fleet/fleet_table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Lines = std::vector<std::string>;

constexpr std::array<std::string_view, 14> kHelp{
    "q            leave",
    "? h          this text",
    "arrows j k   choose a row; PgUp, PgDn, Home g, End G",
    "Tab          next panel: devices, tasks, failures, processes",
    "Enter        more about the chosen row",
    "s            sort by the next column",
    "/            filter rows; Enter keeps it, Esc drops it",
    "space        pause and go on",
    "+ -          look more often, less often",
    "d            drain the device: it finishes what it has and takes nothing new",
    "r            resume the device",
    "x            cancel the task; asks first",
    "",
    "Drain, resume and cancel need a running 'tutti batch'. Any key goes back.",
};

std::string memory_of(const char* name, const std::optional<Bytes>& used, const std::optional<Bytes>& total) {
  if (!used || !total || total->value == 0) return {};
  return std::string("  ") + name + " " + gigabytes(*used) + "/" + gigabytes(*total) + " GB";
}

std::string host_text(const HostStatus& host) {
  std::string text = "CPU " + (host.busy ? percent(*host.busy) : std::string("?"));
  if (host.memory_total && host.memory_available)
    text += memory_of("RAM", Bytes{host.memory_total->value - host.memory_available->value}, host.memory_total);
  return text + memory_of("swap", host.swap_used, host.swap_total);
}

/// "disk /  80.1 GB free  12 MB/s read  0.4 MB/s written"; what is not known is left out.
std::string disk_text(const DiskStatus& disk) {
  std::string text = "disk " + disk.path;
  if (disk.free) text += "  " + gigabytes(*disk.free) + " GB free";
  if (disk.free && disk.total) text += " of " + gigabytes(*disk.total);
  if (disk.read) text += "  " + short_number(*disk.read / 1e6) + " MB/s read";
  if (disk.written) text += "  " + short_number(*disk.written / 1e6) + " MB/s written";
  return text;
}

/// Nothing that is written fits any more soon.
Tint tint_of_disk(const DiskStatus& disk) {
  constexpr std::int64_t kLittle = 1'000'000'000;
  return disk.free && disk.free->value < kLittle ? Tint::alarm : Tint::plain;
}

std::string tabs_text(const TopData& data, const TopState& state) {
  const std::array<std::pair<const char*, std::size_t>, kTopPanels> panels{
      {{"Devices", data.devices.size()},
       {"Tasks", data.run ? data.run->in_work.size() : 0},
       {"Failures", data.run ? data.run->failures.size() : 0},
       {"Processes", data.processes.size()}}};
  std::string text;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::string label = std::string(panels[i].first) + " " + std::to_string(panels[i].second);
    text += i == static_cast<std::size_t>(state.panel) ? "[" + label + "] " : " " + label + "  ";
  }
  return text;
}

std::string state_text(const TopState& state) {
  std::string text = state.paused ? "paused" : "every " + short_number(state.interval.count()) + " s";
  if (state.sort > 0) text += ", by " + sort_names(state.panel)[state.sort];
  if (!state.filter.empty()) text += ", only '" + state.filter + "'";
  return text;
}

/// Only the end of a long name: the question is to be read.
std::string question_text(const std::string& name, std::size_t columns) {
  const std::string question = "cancel ", answers = "? y or n";
  const std::size_t used = question.size() + answers.size(), width = columns > used ? columns - used : 0;
  return question + fitted(name, std::min(columns_of(name), width), true) + answers;
}

std::string bottom_text(const TopState& state, std::size_t columns) {
  if (state.pending) return question_text(state.pending->name, columns);
  if (state.editing_filter) return "filter: " + state.filter + "▸";
  if (!state.message.empty()) return state.message;
  return "q leave  ? help  Tab panel  Enter details  s sort  / filter  space pause";
}

/// The rows of the panel around the chosen one.
void add_rows(const TopData& data, const TopState& state, const Screen& screen, std::size_t width, Lines& out) {
  if (width == 0) return;
  const PanelRows rows = panel_rows(data, state);
  const Lines lines = lay_out(rows.table, screen.columns - std::min<std::size_t>(screen.columns, 1));
  out.push_back(screen_line(screen, " " + lines[0], Tint::faint));
  const std::size_t shown = width - 1, count = rows.ids.size();
  const std::size_t chosen = count == 0 ? 0 : std::min(state.selected, count - 1);
  const std::size_t first = chosen < shown ? 0 : chosen - shown + 1;
  for (std::size_t i = first; i < std::min(count, first + shown); ++i) {
    const bool marked = i == chosen;
    out.push_back(screen_line(screen, (marked ? "▸" : " ") + lines[i + 1], marked ? Tint::inverse : rows.tints[i]));
  }
  if (count == 0 && shown > 0)
    out.push_back(
        screen_line(screen, state.filter.empty() ? "nothing here" : "nothing matches the filter", Tint::faint));
}

/// What the row of a device has no column for.
Lines about_device(const TopData& data, const std::string& id) {
  Lines lines;
  for (const DeviceStatus& device : data.devices) {
    if (device.id != id) continue;
    if (!device.uuid.empty()) lines.push_back(fitted("UUID", 10) + device.uuid);
    if (!reason_text(device).empty()) lines.push_back(fitted("WHY", 10) + reason_text(device));
  }
  const auto more = data.details.find(id);
  if (more != data.details.end()) lines.insert(lines.end(), more->second.begin(), more->second.end());
  return lines;
}

Lines details_of(const TopData& data, const TopState& state) {
  const PanelRows rows = panel_rows(data, state);
  if (rows.ids.empty()) return {};
  const std::size_t chosen = std::min(state.selected, rows.ids.size() - 1);
  Lines lines = state.panel == TopPanel::devices ? about_device(data, rows.ids[chosen]) : Lines{};
  for (std::size_t c = 0; c < rows.table.columns.size(); ++c) {
    const std::string& cell = rows.table.rows[chosen][c];
    const std::string& title = rows.table.columns[c].title;
    if (!title.empty() && !cell.empty() && cell != "?") lines.push_back(fitted(title, 10) + cell);
  }
  return lines;
}

void add_head(const TopData& data, const TopState& state, const Screen& screen, Lines& out) {
  const std::string right = state_text(state);
  const std::size_t used = columns_of(right) + 2;
  out.push_back(screen_line(
      screen, fitted("tutti top  " + data.title, screen.columns > used ? screen.columns - used : 0) + "  " + right,
      Tint::strong));
  if (data.run)
    for (auto& line : total_lines(*data.run, screen)) out.push_back(std::move(line));
  out.push_back(screen_line(screen, host_text(data.host)));
  for (const DiskStatus& disk : data.host.disks)
    if (out.size() + 12 < screen.lines) out.push_back(screen_line(screen, disk_text(disk), tint_of_disk(disk)));
  for (const std::string& note : data.notes)
    if (out.size() + 12 < screen.lines) out.push_back(screen_line(screen, note, Tint::notice));
  out.push_back(screen_line(screen, tabs_text(data, state)));
}

/// Exactly as many lines as the screen has, the last one given.
Lines filled(Lines lines, const std::string& bottom, const Screen& screen) {
  if (screen.lines == 0) return {};
  lines.resize(std::min(lines.size(), screen.lines - 1));
  while (lines.size() + 1 < screen.lines) lines.push_back(screen_line(screen, ""));
  lines.push_back(screen_line(screen, bottom, Tint::faint));
  return lines;
}

}  // namespace

std::vector<std::string> render_top(const TopData& data, const TopState& state, const Screen& screen) {
  Lines lines;
  if (state.help) {
    for (const auto& line : kHelp) lines.push_back(screen_line(screen, line));
    return filled(std::move(lines), "", screen);
  }
  add_head(data, state, screen, lines);
  const std::size_t width = screen.lines > lines.size() + 1 ? screen.lines - lines.size() - 1 : 0;
  const Lines details = state.details ? details_of(data, state) : Lines{};
  const std::size_t below = std::min(details.size() + (details.empty() ? 0 : 1), 2 * width / 3);
  add_rows(data, state, screen, width - below, lines);
  while (lines.size() + below + 1 < screen.lines) lines.push_back(screen_line(screen, ""));
  for (std::size_t i = 0; i + 1 < below; ++i) lines.push_back(screen_line(screen, details[i]));
  return filled(std::move(lines), bottom_text(state, screen.columns), screen);
}

std::vector<std::string> top_report(const TopData& data, const Screen& screen) {
  Lines lines;
  const auto add = [&](const std::string& text, Tint tint = Tint::plain) {
    lines.push_back(screen_line(screen, text, tint));
  };
  add(data.title, Tint::strong);
  add(host_text(data.host));
  for (const DiskStatus& disk : data.host.disks) add(disk_text(disk), tint_of_disk(disk));
  for (const std::string& note : data.notes) add(note, Tint::notice);
  if (data.run) {
    Screen endless = screen;
    endless.lines = 100'000;
    for (auto& line : render_fleet(*data.run, endless)) lines.push_back(std::move(line));
    return lines;
  }
  for (const TopPanel panel : {TopPanel::devices, TopPanel::processes}) {
    const PanelRows rows = panel_rows(data, {.panel = panel});
    if (rows.ids.empty()) continue;
    add("");
    for (const auto& line : lay_out(rows.table, screen.columns)) add(line);
    for (const auto& device : data.devices)
      if (panel == TopPanel::devices && !reason_text(device).empty()) add(device.id + ": " + reason_text(device));
  }
  return lines;
}

std::string repaint(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  std::string out = before.empty() ? "\x1b[2J" : "";
  for (std::size_t i = 0; i < now.size(); ++i)
    if (i >= before.size() || before[i] != now[i]) out += "\x1b[" + std::to_string(i + 1) + ";1H" + now[i];
  for (std::size_t i = now.size(); i < before.size(); ++i) out += "\x1b[" + std::to_string(i + 1) + ";1H\x1b[K";
  return out;
}

}  // namespace tutti
