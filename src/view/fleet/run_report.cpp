#include "view/fleet/run_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/field_names.h"
#include "view/table.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

using Lines = std::vector<std::string>;
using Against = Remedy::Against;

constexpr std::string_view kSlower = "slower than rated";

/// One reason for idleness: its name for people, and what it means to the user.
struct IdleWords {
  std::string_view name;     // "waiting for input"
  std::string_view finding;  // "decoding limits"
  std::string advice;        // what would help; empty: nothing is wrong with it
};

IdleWords all_words_of(Idle why) {
  switch (why) {
    case Idle::no_job:
      return {"no task", "the work was unevenly long at the end",
              "more recordings in one run, or windows of one recording on several devices (without " +
                  field("sequential") + ")"};
    case Idle::input:
      return {"waiting for input", "decoding limits",
              "more processor cores, or recordings on a faster disk or in a simpler format"};
    case Idle::memory:
      return {
          "memory", "memory limits",
          "a smaller compute type (" + field("compute_type") + " int8_float16), or less of the memory used by others"};
    case Idle::cap:
      return {"cap", "a limit you set holds it back", "a higher " + field("max_per_gpu") + " or " + field("threads")};
    case Idle::fault: return {"fault", "faults took devices out", "see the failures above and 'tutti doctor'"};
    case Idle::starting:
      return {"starting", "loading the model took that long",
              "more recordings in one run, so that it is loaded once for all"};
    case Idle::left_to_faster: return {"left to faster devices", "", ""};
    case Idle::drained:
      return {"drained", "you had taken devices out or held the run back", "'tutti top' puts devices back (r)"};
    case Idle::disk_full:
      return {"disk full", "there was no space for what would be transcribed",
              "an " + field("output_dir") + ", a " + field("state") + " and a TMPDIR on disks with more space"};
    case Idle::not_writable:
      return {"not writable", "a folder could not be written to for a while",
              "see above which one: its file system or its permissions had changed"};
    case Idle::stalled:
      return {"waiting for a stalled device", "what was left was on a device that had stalled",
              "see the failures above and 'tutti doctor'"};
    case Idle::put_off:
      return {"put off", "what was left had failed and was to be tried again later",
              "see the failures above; recordings on a disk that does not go away"};
    case Idle::awaiting_answer:
      return {"waiting for an answer", "a question about a failure was open",
              field("yes") + ", which asks no questions"};
  }
  return {};
}

std::string capitalised(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

/// In a few words: "waiting for input 42 % of the time".
std::string cause_text(const Remedy& remedy) {
  if (remedy.against == Against::too_little_hardware) return "the devices, at work nearly all the time";
  const auto name = remedy.against == Against::slower_than_rated ? kSlower : words_of(remedy.idle);
  return std::string(name) + " " + percent(remedy.share) + " of the time";
}

/// "; without it the run ends up to 6:40 sooner. What helps: ".
std::string gain_text(const Remedy& remedy, std::string_view advice) {
  const std::string gain =
      remedy.gain >= Seconds(1) ? "; without it the run ends up to " + length_text(remedy.gain) + " sooner" : "";
  return gain + ". What helps: " + std::string(advice);
}

std::string idleness_text(const Remedy& remedy, const RunNumbers& run) {
  const IdleWords words = all_words_of(remedy.idle);
  std::string finding(words.finding), advice(words.advice);
  if (remedy.against == Against::slow_tail) {
    finding = field("policy") + " " + run.policy + " left the end of the work to slower devices";
    advice = "the usual policy, which places work where it ends first ('tutti plan --simulate' compares them)";
  } else if (remedy.against == Against::one_long_recording) {
    finding = "one recording of " + length_text(run.longest) + " kept a device busy to the end";
    advice = "letting its windows run on all devices (without " + field("sequential") + ")";
  } else if (remedy.idle == Idle::put_off && !run.has_retried) {
    finding = "what was left was in work elsewhere, or was a copy of one in work";
    advice = "one run at a time of the same recordings";
  } else if (remedy.idle == Idle::no_job && run.shared_files) {
    advice = "more recordings in one run";
  }
  return capitalised(cause_text(remedy)) + ": " + finding + gain_text(remedy, advice);
}

/// Busy from a window's start to its end, a device did less than it is rated for: what windows cost beside their audio.
std::string slower_text(const Remedy& remedy, const RunNumbers& run) {
  double windows = 0;
  Seconds audio{}, beside{};
  for (const DeviceTime& device : run.devices) {
    windows += device.windows;
    audio += device.audio;
    beside += shortfall(device);
  }
  std::string text = capitalised(cause_text(remedy));
  if (windows >= 1)
    text += ": windows of " + short_number(audio.count() / windows) + " s took the devices " +
            short_number(1000 * beside.count() / windows) + " ms each beside their audio";
  return text + gain_text(remedy, "longer recordings, or a machine with more time to play the devices");
}

/// "no task"; "slower than rated".
std::string_view words_of(const RunLoss& loss, const RunNumbers& run) {
  if (loss.idle) return words_of(*loss.idle);
  return run.stopped ? "in work when it was stopped, or slower than rated" : kSlower;
}

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
  for (std::size_t i = 0; i < kIdleReasons; ++i) {
    const auto why = static_cast<Idle>(i);
    parts.emplace_back(device.idle[why], words_of(why));
  }
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
  for (const RunLoss& loss : losses_of(run))
    if (loss.share >= 0.005)
      text += (text.empty() ? "" : ", ") + std::string(words_of(loss, run)) + " " + percent(loss.share);
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

Lines quote_lines(const RunNumbers& run, const RunQuote& quote) {
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
  if (run.cost && *run.cost > 0 && run.idle_cost)
    per_hour += "; " + percent(*run.idle_cost / *run.cost) + " of it for idle devices";
  return {(quoted ? "Against the plan: " : "Spent: ") + line + per_hour};
}

}  // namespace

std::string_view words_of(Idle why) {
  return all_words_of(why).name;
}

std::string text_of(const Remedy& remedy, const RunNumbers& run) {
  if (remedy.against == Against::slower_than_rated) return slower_text(remedy, run);
  if (remedy.against != Against::too_little_hardware) return idleness_text(remedy, run);
  return "The devices were at work nearly all the time: only more of them help. Another one like " +
         fastest_device(run).id + " makes it up to " + length_text(remedy.gain) + " less";
}

std::string finding_of(const RunNumbers& run) {
  const auto first = first_remedy(run);
  if (!first) return {};
  return std::string(kFindingStart) + cause_text(*first) + "; without that it needs up to " +
         percent(first->gain / run.elapsed) + " less time.";
}

std::vector<std::string> run_report(const RunNumbers& run, const RunQuote& quote) {
  Lines lines{first_line(run)};
  if (run.elapsed <= Seconds(0) || run.devices.empty()) return lines;
  for (const auto& line : device_lines(run)) lines.push_back(line);
  if (const auto bound = lower_bound(run); bound && *bound > Seconds(0)) lines.push_back(efficiency_line(run, *bound));
  for (const Remedy& remedy : remedies(run)) lines.push_back("  " + text_of(remedy, run));
  for (const auto& line : quote_lines(run, quote)) lines.push_back(line);
  if (run.done > 0 && run.copied == run.done)
    lines.emplace_back(
        "All of it was copied from recordings with the same content: there is no plan to compare it with");
  return lines;
}

}  // namespace tutti
