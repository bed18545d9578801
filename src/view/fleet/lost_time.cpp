#include "view/fleet/lost_time.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::array kKinds{
    LostKind{&IdleTime::no_job, "no task", "the work was unevenly long at the end",
             "more recordings in one run, or windows of one recording on several devices (without --sequential)"},
    LostKind{&IdleTime::input, "waiting for input", "decoding limits",
             "more processor cores, or recordings on a faster disk or in a simpler format"},
    LostKind{&IdleTime::memory, "memory", "memory limits",
             "a smaller compute type (--compute-type int8_float16), or less of the memory used by others"},
    LostKind{&IdleTime::cap, "cap", "a limit you set holds it back", "a higher --max-per-gpu or --threads"},
    LostKind{&IdleTime::fault, "fault", "faults took devices out", "see the failures above and 'tutti doctor'"},
    LostKind{&IdleTime::starting, "starting", "loading the model took that long",
             "more recordings in one run, so that it is loaded once for all"},
    LostKind{&IdleTime::left_to_faster, "left to faster devices", "", ""},
    LostKind{&IdleTime::drained, "drained", "you had taken devices out or held the run back",
             "'tutti top' puts devices back (r)"},
    LostKind{&IdleTime::disk_full, "disk full", "there was no space for what would be transcribed",
             "an --output-dir, a --state and a TMPDIR on disks with more space"},
    LostKind{&IdleTime::not_writable, "not writable", "a folder could not be written to for a while",
             "see above which one: its file system or its permissions had changed"},
    LostKind{&IdleTime::stalled, "waiting for a stalled device", "what was left was on a device that had stalled",
             "see the failures above and 'tutti doctor'"},
    LostKind{
        &IdleTime::put_off, "put off",
        "what was left had failed and was to be tried again later, was in work elsewhere, or was a copy of one in work",
        "see the failures above; recordings on a disk that does not go away"},
    LostKind{&IdleTime::awaiting_answer, "waiting for an answer", "a question about a failure was open",
             "--yes, which asks no questions"},
};

constexpr double kWorthALine = 0.02;  // share of the run's length
constexpr Seconds kShortestRun{2};    // that a finding is made of
constexpr std::string_view kSlower = "slower than rated";

double total_speed(const RunNumbers& run) {
  double sum = 0;
  for (const DeviceTime& device : run.devices) sum += speed_of(device).value_or(0);
  return sum;
}

/// Whatever the devices waited for then delayed no work.
bool nothing_done(const RunNumbers& run) {
  return std::ranges::all_of(run.devices, [](const DeviceTime& device) { return device.audio <= Seconds(0); });
}

double fastest_speed(const RunNumbers& run) {
  double most = 0;
  for (const DeviceTime& device : run.devices) most = std::max(most, speed_of(device).value_or(0));
  return most;
}

/// The run's time had the devices worked while they were idle for this reason. Work moves freely between devices here,
/// so it is a bound for whole files; never below what is possible at all.
Seconds gain_without(const RunNumbers& run, const LostKind& kind) {
  double lost_audio = 0;
  for (const DeviceTime& device : run.devices)
    lost_audio += (device.idle.*kind.time).count() * speed_of(device).value_or(0);
  const double speed = total_speed(run);
  if (speed <= 0) return Seconds(0);
  const Seconds possible = run.elapsed - lower_bound(run).value_or(Seconds(0));
  return std::clamp(Seconds(lost_audio / speed), Seconds(0), std::max(Seconds(0), possible));
}

/// The share of all devices' time.
double share_of(const RunNumbers& run, const LostKind& kind) {
  Seconds sum{};
  for (const DeviceTime& device : run.devices) sum += device.idle.*kind.time;
  return sum / (run.elapsed * static_cast<double>(run.devices.size()));
}

std::string capitalised(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

/// The longest recording kept one device busy while the others had nothing left.
bool one_long_recording(const RunNumbers& run) {
  const double fastest = fastest_speed(run);
  return !run.shared_files && fastest > 0 && run.longest / fastest > 0.7 * run.elapsed && run.devices.size() > 1;
}

/// Another policy than the usual one let a fast device go idle while a slower one still had work.
bool slow_ones_had_the_tail(const RunNumbers& run) {
  constexpr double kFaster = 1.05;
  if (run.policy.empty() || run.policy == "tutti") return false;
  for (const DeviceTime& idle : run.devices)
    for (const DeviceTime& busy : run.devices)
      if (speed_of(idle).value_or(0) > kFaster * speed_of(busy).value_or(0) && speed_of(busy) &&
          idle.idle.no_job - busy.idle.no_job > kWorthALine * run.elapsed)
        return true;
  return false;
}

Remedy remedy_for(const RunNumbers& run, const LostKind& kind) {
  const Seconds gain = gain_without(run, kind);
  std::string finding(kind.finding), advice(kind.advice);
  if (kind.time == &IdleTime::no_job && slow_ones_had_the_tail(run)) {
    finding = "--policy " + run.policy + " left the end of the work to slower devices";
    advice = "the usual policy, which places work where it ends first ('tutti plan --simulate' compares them)";
  } else if (kind.time == &IdleTime::no_job && one_long_recording(run)) {
    finding = "one recording of " + length_text(run.longest) + " kept a device busy to the end";
    advice = "letting its windows run on all devices (without --sequential)";
  } else if (kind.time == &IdleTime::no_job && run.shared_files) {
    advice = "more recordings in one run";
  }
  const std::string cause = std::string(kind.name) + " " + percent(share_of(run, kind)) + " of the time";
  std::string text = capitalised(cause) + ": " + finding;
  if (gain >= Seconds(1)) text += "; without it the run ends up to " + length_text(gain) + " sooner";
  return {gain, text + ". What helps: " + advice, cause};
}

/// The share of all devices' time.
double shortfall_share(const RunNumbers& run) {
  Seconds sum{};
  for (const DeviceTime& device : run.devices) sum += shortfall(device);
  return sum / (run.elapsed * static_cast<double>(run.devices.size()));
}

/// Busy from a window's start to its end, a device did less than it is rated for: what windows cost beside their audio.
Remedy fewer_windows(const RunNumbers& run) {
  double lost = 0, windows = 0;
  Seconds audio{}, beside{};
  for (const DeviceTime& device : run.devices) {
    lost += shortfall(device).count() * speed_of(device).value_or(0);
    windows += device.windows;
    audio += device.audio;
    beside += shortfall(device);
  }
  const double speed = total_speed(run);
  const Seconds possible = std::max(Seconds(0), run.elapsed - lower_bound(run).value_or(Seconds(0)));
  const Seconds gain = speed > 0 ? std::clamp(Seconds(lost / speed), Seconds(0), possible) : Seconds(0);
  const std::string cause = std::string(kSlower) + " " + percent(shortfall_share(run)) + " of the time";
  std::string text = capitalised(cause);
  if (windows >= 1)
    text += ": windows of " + short_number(audio.count() / windows) + " s took the devices " +
            short_number(1000 * beside.count() / windows) + " ms each beside their audio";
  if (gain >= Seconds(1)) text += "; without it the run ends up to " + length_text(gain) + " sooner";
  return {gain, text + ". What helps: longer recordings, or a machine with more time to play the devices", cause};
}

/// Where nothing but more hardware helps: what another of the fastest device brings.
Remedy another_device(const RunNumbers& run) {
  const auto fastest = std::max_element(run.devices.begin(), run.devices.end(), [](const auto& a, const auto& b) {
    return speed_of(a).value_or(0) < speed_of(b).value_or(0);
  });
  const double speed = total_speed(run), more = speed_of(*fastest).value_or(0);
  const Seconds gain = run.elapsed * (speed > 0 ? more / (speed + more) : 0);
  return {gain,
          "The devices were at work nearly all the time: only more of them help. Another one like " + fastest->id +
              " makes it up to " + length_text(gain) + " less",
          "the devices, at work nearly all the time"};
}

bool nearly_always_busy(const RunNumbers& run) {
  Seconds busy{};
  for (const DeviceTime& device : run.devices) busy += device.busy - shortfall(device);
  return busy >= 0.9 * static_cast<double>(run.devices.size()) * run.elapsed;
}

}  // namespace

std::span<const LostKind> lost_kinds() {
  return kKinds;
}

std::optional<double> measured_speed(const DeviceTime& device) {
  if (device.busy > Seconds(0) && device.audio > Seconds(0)) return device.audio / device.busy;
  return std::nullopt;
}

std::optional<double> speed_of(const DeviceTime& device) {
  return device.rated && *device.rated > 0 ? device.rated : measured_speed(device);
}

Seconds shortfall(const DeviceTime& device) {
  const auto rated = speed_of(device);
  return rated ? std::max(Seconds(0), device.busy - device.audio / *rated) : Seconds(0);
}

std::vector<std::pair<std::string, double>> losses_of(const RunNumbers& run) {
  std::vector<std::pair<std::string, double>> losses;
  const double all = run.elapsed.count() * total_speed(run);
  if (all <= 0) return losses;
  const auto add = [&](std::string_view name, const auto& time_of) {
    double lost = 0;
    for (const DeviceTime& device : run.devices) lost += time_of(device).count() * speed_of(device).value_or(0);
    losses.emplace_back(name, lost / all);
  };
  for (const LostKind& kind : kKinds) add(kind.name, [&](const DeviceTime& it) { return it.idle.*kind.time; });
  add(run.stopped ? "in work when it was stopped, or slower than rated" : kSlower, shortfall);
  std::ranges::stable_sort(losses, std::greater(), [](const auto& loss) { return loss.second; });
  return losses;
}

Seconds work_bound(const RunNumbers& run) {
  const double speed = total_speed(run);
  Seconds audio{};  // length of the recordings, often of their speech alone
  for (const DeviceTime& device : run.devices) audio += device.audio;
  return speed > 0 ? audio / speed : Seconds(0);
}

std::optional<Seconds> lower_bound(const RunNumbers& run) {
  if (total_speed(run) <= 0) return std::nullopt;
  const Seconds longest = run.shared_files ? Seconds(0) : run.longest / fastest_speed(run);
  return std::max(work_bound(run), longest);
}

std::vector<Remedy> remedies(const RunNumbers& run) {
  std::vector<Remedy> found;
  if (run.elapsed <= Seconds(0) || run.devices.empty()) return found;
  const bool only_faults = nothing_done(run);
  for (const LostKind& kind : kKinds) {
    if (kind.advice.empty() || share_of(run, kind) < kWorthALine) continue;
    if (!only_faults || kind.time == &IdleTime::fault) found.push_back(remedy_for(run, kind));
  }
  const bool slower = !run.stopped && shortfall_share(run) >= kWorthALine;
  if (!only_faults && slower) found.push_back(fewer_windows(run));
  std::stable_sort(found.begin(), found.end(), [](const Remedy& a, const Remedy& b) { return a.gain > b.gain; });
  if (!only_faults && nearly_always_busy(run) && total_speed(run) > 0) found.push_back(another_device(run));
  return found;
}

std::string finding_of(const RunNumbers& run) {
  const auto found = remedies(run);
  if (run.elapsed < kShortestRun || found.empty() || found.front().gain < kWorthALine * run.elapsed) return {};
  const Remedy& first = found.front();
  return std::string(kFindingStart) + first.cause + "; without that it needs up to " +
         percent(first.gain / run.elapsed) + " less time.";
}

}  // namespace tutti
