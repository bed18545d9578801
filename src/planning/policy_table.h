#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balance/simulator.h"
#include "planning/plan_devices.h"

namespace tutti {

/// What `tutti plan --simulate` compares: every policy on the same recordings and devices.
struct PolicyTable {
  struct Row {
    std::string name{};
    Seconds makespan{};
    double ratio = 0;          ///< makespan / lower_bound
    std::size_t not_done = 0;  ///< recordings that failed, or were left when no device was
    std::optional<double> cost{};
    std::vector<DeviceView> devices{};
  };
  Seconds lower_bound{};
  std::optional<double> speech{};  ///< share of the audio that is speech, as passed to compare_policies
  std::vector<Row> rows{};

  /// What every policy's time costs, at what an hour of all devices does.
  void add_costs(double usd_hour);

  std::string json() const;
  std::string text(std::size_t recordings, Seconds audio) const;
};

/// As much of the recordings as is expected to be speech; `speech` as in QuoteQuestion.
std::vector<SimJob> speech_only(std::vector<SimJob> recordings, const std::optional<double>& speech);

/// What is supposed of silence, as a sentence.
std::string silence_text(const std::optional<double>& speech);

/// Audio seconds a second in windows of that length, of a device that has a speed.
double throughput(const PlanTarget& target, Seconds window);

/// Devices as the simulator takes them, with their faults; all have a speed. `windows`: in flight on each.
std::vector<SimDevice> sim_devices(const std::vector<PlanTarget>& targets, int windows);

/// What the simulator makes of the failures in a devices file, for people: "hang, stall and garble cost …". Empty: all
/// of them happen there as they are.
std::string simplified_failures(const std::vector<PlanTarget>& targets);

/// Runs all policies over the speech of the recordings. Deterministic.
PolicyTable compare_policies(const std::vector<SimJob>& recordings, const std::optional<double>& speech,
                             const std::vector<SimDevice>& devices, SimUnit unit, std::uint64_t seed);

}  // namespace tutti
