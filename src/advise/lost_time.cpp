#include "advise/lost_time.h"

#include <algorithm>
#include <functional>

namespace tutti {
namespace {

using Against = Remedy::Against;

constexpr Seconds kShortestRun{2};  // that a finding is made of

Idle reason(std::size_t index) {
  return static_cast<Idle>(index);
}

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
  return run.devices.empty() ? 0 : speed_of(fastest_device(run)).value_or(0);
}

/// Audio that the devices would have done in the time that `time_of` gives for each.
double lost_audio(const RunNumbers& run, const std::function<Seconds(const DeviceTime&)>& time_of) {
  double lost = 0;
  for (const DeviceTime& device : run.devices) lost += time_of(device).count() * speed_of(device).value_or(0);
  return lost;
}

/// How much shorter the run had been with that audio done meanwhile. Work moves freely between devices here, so it is
/// a bound for whole files; never more than is possible at all.
Seconds gain_of(const RunNumbers& run, double audio) {
  const double speed = total_speed(run);
  if (speed <= 0) return Seconds(0);
  const Seconds possible = run.elapsed - lower_bound(run).value_or(Seconds(0));
  return std::clamp(Seconds(audio / speed), Seconds(0), std::max(Seconds(0), possible));
}

/// The share of all devices' time that `time_of` gives for each.
double share_of(const RunNumbers& run, const std::function<Seconds(const DeviceTime&)>& time_of) {
  Seconds sum{};
  for (const DeviceTime& device : run.devices) sum += time_of(device);
  return sum / (run.elapsed * static_cast<double>(run.devices.size()));
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
          idle.idle[Idle::no_job] - busy.idle[Idle::no_job] > kLeastLoss * run.elapsed)
        return true;
  return false;
}

Remedy remedy_for(const RunNumbers& run, Idle why) {
  const auto idle = [why](const DeviceTime& device) { return device.idle[why]; };
  Remedy remedy{.idle = why, .share = share_of(run, idle), .gain = gain_of(run, lost_audio(run, idle))};
  if (why == Idle::no_job && slow_ones_had_the_tail(run))
    remedy.against = Against::slow_tail;
  else if (why == Idle::no_job && one_long_recording(run))
    remedy.against = Against::one_long_recording;
  return remedy;
}

bool nearly_always_busy(const RunNumbers& run) {
  Seconds busy{};
  for (const DeviceTime& device : run.devices) busy += device.busy - shortfall(device);
  return busy >= 0.9 * static_cast<double>(run.devices.size()) * run.elapsed;
}

/// Where nothing but more hardware helps: what another of the fastest device brings.
Remedy another_device(const RunNumbers& run) {
  const double speed = total_speed(run), more = fastest_speed(run);
  return {.against = Against::too_little_hardware, .gain = run.elapsed * (speed > 0 ? more / (speed + more) : 0)};
}

}  // namespace

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

const DeviceTime& fastest_device(const RunNumbers& run) {
  return *std::ranges::max_element(run.devices, {}, [](const DeviceTime& it) { return speed_of(it).value_or(0); });
}

std::vector<RunLoss> losses_of(const RunNumbers& run) {
  std::vector<RunLoss> losses;
  const double all = run.elapsed.count() * total_speed(run);
  if (all <= 0) return losses;
  for (std::size_t i = 0; i < kIdleReasons; ++i)
    losses.push_back(
        {reason(i), lost_audio(run, [&](const DeviceTime& device) { return device.idle[reason(i)]; }) / all});
  losses.push_back({std::nullopt, lost_audio(run, shortfall) / all});
  std::ranges::stable_sort(losses, std::greater(), &RunLoss::share);
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
  for (std::size_t i = 0; i < kIdleReasons; ++i) {
    if (reason(i) == Idle::left_to_faster) continue;  // nothing is wrong with it
    const Remedy remedy = remedy_for(run, reason(i));
    if (remedy.share >= kLeastLoss && (!only_faults || remedy.idle == Idle::fault)) found.push_back(remedy);
  }
  const Remedy slower{.against = Against::slower_than_rated,
                      .share = share_of(run, shortfall),
                      .gain = gain_of(run, lost_audio(run, shortfall))};
  if (!only_faults && !run.stopped && slower.share >= kLeastLoss) found.push_back(slower);
  std::ranges::stable_sort(found, std::greater(), &Remedy::gain);
  if (!only_faults && nearly_always_busy(run) && total_speed(run) > 0) found.push_back(another_device(run));
  return found;
}

std::optional<Remedy> first_remedy(const RunNumbers& run) {
  const auto found = remedies(run);
  if (run.elapsed < kShortestRun || found.empty() || found.front().gain < kLeastLoss * run.elapsed) return {};
  return found.front();
}

}  // namespace tutti
