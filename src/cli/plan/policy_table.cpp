#include "cli/plan/policy_table.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "view/text.h"

namespace tutti {
namespace {

template <class... Values>
std::string line(const char* format, Values... values) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string PolicyTable::json() const {
  nlohmann::ordered_json out{{"lower_bound_s", lower_bound.count()}, {"policies", nlohmann::ordered_json::array()}};
  for (const auto& row : rows)
    out["policies"].push_back({{"name", row.name}, {"makespan_s", row.makespan.count()}, {"ratio", row.ratio}});
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string PolicyTable::text(std::size_t recordings, Seconds audio) const {
  std::string out = line("%zu recordings, %s of audio; nobody can be faster than %s\n\n", recordings,
                         length_text(audio).c_str(), length_text(lower_bound).c_str());
  out += line("  %-14s %12s %10s   %s\n", "policy", "all done in", "to bound", "share of its time each device works");
  for (const auto& row : rows) {
    out += line("  %-14s %12s %9.3f×  ", row.name.c_str(), length_text(row.makespan).c_str(), row.ratio);
    for (const auto& device : row.devices) {
      const bool ran = device.in_service > Seconds::zero();
      out += line(" %5.1f %%", ran ? 100 * (device.busy / device.in_service) : 0.0);
    }
    out += "\n";
  }
  return out;
}

std::vector<SimDevice> sim_devices(const std::vector<PlanTarget>& targets, int windows) {
  std::vector<SimDevice> devices;
  for (const auto& target : targets) {
    devices.push_back(plain_device(target.id, *target.speed, target.windows.value_or(windows)));
    devices.back().jitter = target.jitter / 1.7;  // evenly up to ± a share: a standard deviation of that by √3
    devices.back().warm_up = target.warm_up;
    devices.back().facts.task_cap = target.task_cap;
    if (target.window_memory.value > 0) devices.back().facts.memory = target.memory;
    devices.back().facts.model_memory = target.model_memory;
    devices.back().facts.piece_memory = target.window_memory;
  }
  return devices;
}

PolicyTable compare_policies(const std::vector<SimTask>& tasks, const std::vector<SimDevice>& devices, SimUnit unit,
                             std::uint64_t seed) {
  PolicyTable table{.lower_bound = lower_bound(tasks, devices, unit)};
  for (const Policy policy : kPolicies) {
    std::vector<SimDevice> used = devices;
    SimOptions options{.unit = unit, .seed = seed};
    set_policy(policy, used, options);
    SimResult result = simulate(tasks, used, options);
    table.rows.push_back({.name = policy_name(policy),
                          .makespan = result.makespan,
                          .ratio = table.lower_bound > Seconds::zero() ? result.makespan / table.lower_bound : 1,
                          .devices = std::move(result.devices)});
  }
  return table;
}

}  // namespace tutti
