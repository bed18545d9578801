#include "view/fleet/fleet_table.h"

#include <algorithm>

#include "view/fleet/fleet_parts.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kMostFailures = 3;

using Lines = std::vector<std::string>;

std::string totals_text(const FleetStatus& s) {
  std::string text = std::to_string(s.done) + "/" + std::to_string(s.jobs) + " done";
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(s.failed, "failed");
  add(s.cancelled, "cancelled");
  add(s.running, "running");
  add(s.waiting(), "waiting");
  return text;
}

/// "cost so far 0.42 USD, 0.037 per hour of audio".
std::string cost_text(const FleetStatus& s, double cost) {
  std::string text = "cost so far " + money_text(cost) + " USD";
  if (s.audio_done > Seconds(1))
    text += ", " + money_text(cost / (s.audio_done / Seconds(3600))) + " per hour of audio";
  return text;
}

std::string audio_text(const FleetStatus& s) {
  std::string text = length_text(s.audio_done);
  if (s.audio_total) text += " of " + length_text(*s.audio_total);
  text += " audio";
  if (s.elapsed > Seconds(1)) text += "  " + short_number(s.audio_done / s.elapsed) + " audio h/h";
  return text;
}

/// Adds lines of a part: as many as fit, the rest counted. Returns how many lines were used.
void add_part(const Screen& screen, const Lines& lines, std::size_t width, Tint tint, Lines& out) {
  const std::size_t shown = lines.size() <= width ? lines.size() : width - std::min<std::size_t>(width, 1);
  for (std::size_t i = 0; i < shown; ++i) out.push_back(screen_line(screen, lines[i], tint));
  if (shown < lines.size() && width > 0)
    out.push_back(screen_line(screen, "and " + std::to_string(lines.size() - shown) + " more", Tint::faint));
}

Lines failure_lines(const FleetStatus& status, std::size_t columns) {
  Lines lines;
  for (const JobFailure& failure : status.failures) {
    std::string line = "failed  " + fitted(failure.name, std::min<std::size_t>(28, columns / 3), true) + "  ";
    if (!failure.device.empty()) line += failure.device + ": ";
    line += failure.error;
    if (failure.attempts > 1) line += " (" + std::to_string(failure.attempts) + " attempts)";
    lines.push_back(line);
  }
  return lines;
}

/// How a device has become well is soon no news, and there are many devices.
std::string news_of(const DeviceStatus& device) {
  return concern_of(device.state) == Concern::none ? device.memory_limit : reason_text(device);
}

bool has_news(const DeviceStatus& device) {
  return !news_of(device).empty();
}

/// Devices, each in the tint of its state; a reason gets a line of its own where it fits.
void add_devices(const FleetStatus& status, const Screen& screen, std::size_t width, Lines& out) {
  const Lines lines = lay_out(device_table(status.devices), screen.columns);
  if (width == 0) return;
  out.push_back(screen_line(screen, lines[0], Tint::faint));
  --width;
  const auto reasons = static_cast<std::size_t>(std::ranges::count_if(status.devices, has_news));
  const bool with_reasons = status.devices.size() + reasons <= width;
  const std::size_t shown =
      status.devices.size() <= width ? status.devices.size() : width - std::min<std::size_t>(width, 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const DeviceStatus& device = status.devices[i];
    const Tint tint = tint_of(concern_of(device.state));
    out.push_back(screen_line(screen, lines[i + 1], tint));
    if (with_reasons && has_news(device)) out.push_back(screen_line(screen, "  └ " + news_of(device), tint));
  }
  if (shown < status.devices.size() && width > 0)
    out.push_back(
        screen_line(screen, "and " + std::to_string(status.devices.size() - shown) + " more devices", Tint::faint));
}

Lines work_lines(const FleetStatus& status, std::size_t columns) {
  Lines lines = lay_out(job_table(status.in_work), columns);
  lines.erase(lines.begin());  // what the columns are shows by itself
  return lines;
}

}  // namespace

std::vector<std::string> render_fleet(const FleetStatus& status, const Screen& screen) {
  Lines out;
  for (const auto& line : total_lines(status, screen)) out.push_back(line);
  const auto width = [&] { return screen.lines > out.size() ? screen.lines - out.size() : 0; };
  const std::size_t for_failures = std::min({status.failures.size(), kMostFailures, width() / 4});
  add_devices(status, screen, width() - for_failures, out);
  const Lines failures = failure_lines(status, screen.columns);
  const Lines working = work_lines(status, screen.columns);
  if (width() > for_failures) add_part(screen, working, width() - for_failures, Tint::plain, out);
  if (!failures.empty()) add_part(screen, failures, std::min(width(), for_failures), Tint::alarm, out);
  out.resize(std::min(out.size(), screen.lines));
  return out;
}

std::vector<std::string> total_lines(const FleetStatus& status, const Screen& screen) {
  const std::size_t columns = screen.columns;
  std::string clock = length_text(status.elapsed);
  if (columns >= 60) clock = "running for " + clock;
  const std::size_t used = columns_of(clock) + 2;
  const std::string first = fitted(totals_text(status), columns > used ? columns - used : 0) + "  " + clock;
  const bool known = status.audio_total && *status.audio_total > Seconds(0);
  const double share = known             ? status.audio_done / *status.audio_total
                       : status.jobs > 0 ? static_cast<double>(status.done + status.failed + status.cancelled) /
                                               static_cast<double>(status.jobs)
                                         : 0;
  const std::string left = left_text(status);
  const std::string second =
      bar_of(share, std::max<std::size_t>(8, columns / 5)) + " " + percent(share) + (left.empty() ? "" : "  " + left);
  Lines lines{screen_line(screen, first, Tint::strong), screen_line(screen, second),
              screen_line(screen, audio_text(status) +
                                      (status.next_device.empty() ? "" : "  next task: " + status.next_device))};
  if (status.cost) lines.push_back(screen_line(screen, cost_text(status, *status.cost)));
  if (!status.held_up.empty()) lines.push_back(screen_line(screen, "held up: " + status.held_up, Tint::alarm));
  if (!status.finding.empty()) lines.push_back(screen_line(screen, status.finding, Tint::faint));
  lines.resize(std::min(lines.size(), screen.lines));
  return lines;
}

}  // namespace tutti
