#include "planning/policy_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "device/prices/price_list.h"
#include "planning/quote.h"
#include "view/text.h"

namespace tutti {
namespace {

template <class... Values>
std::string line(const char* format, Values... values) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

using Kind = EmulatedFailure::Kind;

/// As a batch classifies it (link's Ending::unclear): a worker that sends nonsense is itself to blame, but one that is
/// killed, silent or without its device may be the machine's victim.
Blame blame_of(Kind failure) {
  return failure == Kind::garble ? Blame::device : Blame::unclear;
}

/// In order of time. What the simulator does not know of is simplified_failures' to say.
std::vector<SimFault> sim_faults(const std::vector<EmulatedFailure>& failures) {
  std::vector<SimFault> faults;
  for (const auto& failure : failures) {
    if (failure.kind == Kind::exhaust) continue;
    const bool lost = failure.kind == Kind::lost;
    faults.push_back({failure.at, lost ? SimFault::Kind::lost : SimFault::Kind::worker_dies, blame_of(failure.kind)});
    if (lost && failure.lasts > Seconds(0)) faults.push_back({failure.at + failure.lasts, SimFault::Kind::returned});
  }
  std::ranges::stable_sort(faults, {}, &SimFault::at);
  return faults;
}

std::string cost_column(const std::optional<double>& cost) {
  return cost ? line("  %9.2f", *cost) : std::string();
}

}  // namespace

std::string simplified_failures(const std::vector<PlanTarget>& targets) {
  bool late = false, memory = false;
  for (const auto& target : targets)
    for (const auto& failure : target.failures) {
      late = late || failure.kind == Kind::hang || failure.kind == Kind::stall;
      memory = memory || failure.kind == Kind::exhaust;
    }
  std::string text;
  if (late) text = "a worker that hangs or stalls is noticed at once there";
  if (memory) text += std::string(text.empty() ? "" : "; ") + "'exhaust' is left out, no window is too large there";
  return text;
}

void PolicyTable::add_costs(double usd_hour) {
  for (auto& row : rows) row.cost = usd_of(usd_hour, row.makespan);
}

std::string PolicyTable::json() const {
  nlohmann::ordered_json out{{"lower_bound_s", lower_bound.count()}, {"policies", nlohmann::ordered_json::array()}};
  if (speech) out["speech_share"] = *speech;
  for (const auto& row : rows) {
    nlohmann::ordered_json policy{{"name", row.name}, {"makespan_s", row.makespan.count()}, {"ratio", row.ratio}};
    if (row.not_done > 0) policy["not_done"] = row.not_done;
    if (row.cost) policy["cost"] = *row.cost;
    out["policies"].push_back(std::move(policy));
  }
  return json_line(out);
}

std::string silence_text(const std::optional<double>& speech) {
  if (!speech)
    return "All of it counts as speech; silence is not transcribed, so with much of it the end comes sooner.";
  return "As in earlier batches, " + std::to_string(std::lround(100 * *speech)) +
         " % of it counts as speech; silence is not transcribed.";
}

std::vector<SimJob> speech_only(std::vector<SimJob> jobs, const std::optional<double>& speech) {
  for (SimJob& job : jobs) {
    job.audio *= speech.value_or(1);
    job.believed *= speech.value_or(1);
  }
  return jobs;
}

std::string PolicyTable::text(std::size_t recordings, Seconds audio) const {
  std::string out = line("%zu recordings, %s of audio; no policy can be faster than %s\n\n", recordings,
                         length_text(audio).c_str(), length_text(lower_bound).c_str());
  const bool costed = !rows.empty() && rows.front().cost;
  out += line("  %-14s %12s %10s%s   %s\n", "policy", "all done in", "to bound", costed ? "       cost" : "",
              "share of its time each device works");
  for (const auto& row : rows) {
    out += line("  %-14s %12s %9.3f×%s  ", row.name.c_str(), length_text(row.makespan).c_str(), row.ratio,
                cost_column(row.cost).c_str());
    for (const auto& device : row.devices) {
      const bool ran = device.in_service > Seconds::zero();
      out += line(" %5.1f %%", ran ? 100 * (device.busy / device.in_service) : 0.0);
    }
    if (row.not_done > 0) out += "   " + std::to_string(row.not_done) + " not done";
    out += "\n";
  }
  return out + silence_text(speech) + "\n";
}

double throughput(const PlanTarget& target, Seconds window) {
  return target.window_cost ? target.window_cost->through(std::max(window, Seconds(1))) : *target.speed;
}

std::vector<SimDevice> sim_devices(const std::vector<PlanTarget>& targets, int windows) {
  std::vector<SimDevice> devices;
  for (const auto& target : targets) {
    devices.push_back(plain_device(target.id, throughput(target, kFullWindow), target.windows.value_or(windows)));
    if (target.window_cost) {
      devices.back().fixed = target.window_cost->fixed();
      devices.back().speed = target.window_cost->speed();
    }
    devices.back().jitter = target.jitter / 1.7;  // evenly up to ± a share: a standard deviation of that by √3
    devices.back().warm_up = devices.back().facts.load_time = target.warm_up;
    devices.back().faults = sim_faults(target.failures);
    devices.back().facts.job_cap = target.job_cap;
    if (target.window_memory.value > 0) devices.back().facts.memory = target.memory;
    devices.back().facts.model_memory = target.model_memory;
    devices.back().facts.piece_memory = target.window_memory;
  }
  return devices;
}

PolicyTable compare_policies(const std::vector<SimJob>& recordings, const std::optional<double>& speech,
                             const std::vector<SimDevice>& devices, SimUnit unit, std::uint64_t seed) {
  const std::vector<SimJob> jobs = speech_only(recordings, speech);
  PolicyTable table{.lower_bound = lower_bound(jobs, devices, unit), .speech = speech};
  for (const Policy policy : kPolicies) {
    std::vector<SimDevice> used = devices;
    SimOptions options{.unit = unit, .seed = seed};
    set_policy(policy, used, options);
    SimResult result = simulate(jobs, used, options);
    table.rows.push_back({.name = std::string(name_of(policy)),
                          .makespan = result.makespan,
                          .ratio = table.lower_bound > Seconds::zero() ? result.makespan / table.lower_bound : 1,
                          .not_done = static_cast<std::size_t>(
                              std::ranges::count_if(result.done_at, [](Seconds at) { return at < Seconds::zero(); })),
                          .devices = std::move(result.devices)});
  }
  return table;
}

}  // namespace tutti
