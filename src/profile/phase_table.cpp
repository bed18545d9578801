#include "profile/phase_table.h"

#include <algorithm>

#include "base/numbers.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kSameLength = 1.05;  // the longest over the shortest

std::string ms(Seconds time) {
  return fixed_text(1000 * time.count(), 1) + "ms";
}

std::string percent(double share) {
  return fixed_text(100 * share, 1) + "%";
}

std::string padded_left(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

std::string phase_line(const Phase& phase, bool has_share) {
  std::string line =
      "  " + fitted(phase.name + ":", 14) + padded_left(ms(phase.times.mean), 9) + " ± " + ms(phase.times.deviation);
  if (has_share) line += " (" + percent(phase.share) + ")";
  return line + "  min " + ms(phase.times.least) + ", p50 " + ms(phase.times.p50) + ", p95 " + ms(phase.times.p95) +
         ", max " + ms(phase.times.most) + "\n";
}

std::string load_line(const char* name, const std::string& device, const TimeWeighted& load) {
  return std::string("  ") + fitted(name, 12) +
         (load.is_empty() ? "not measured" : percent(load.mean()) + " ± " + percent(load.deviation())) + " (" + device +
         ")\n";
}

std::string memory_text(const PhaseDevices& devices) {
  if (devices.process_memory.value <= 0) return {};
  std::string text = "\nMEMORY:\n  " + fitted("Process:", 12) + bytes_text(devices.process_memory) + " at its most\n";
  const auto add = [&](const char* name, const std::optional<Bytes>& most, const std::string& device) {
    if (most)
      text += "  " + fitted(name, 12) + bytes_text(*most) + " at its most, with other processes (" + device + ")\n";
  };
  if (devices.data != devices.model) add("Data GPU:", devices.data_memory, devices.data);
  add("Model GPU:", devices.model_memory, devices.model);
  return text;
}

RuleFigures figures_of(const StepPhases& phases, const PhaseDevices& devices) {
  RuleFigures figures{.load = phases.load.share, .transfer = phases.transfer.share, .training = phases.training.share};
  const Spread& total = phases.total.times;
  figures.variation = total.variation();
  if (!devices.data_load.is_empty()) figures.data_gpu = devices.data_load.mean();
  if (!devices.model_load.is_empty()) figures.model_gpu = devices.model_load.mean();
  return figures;
}

/// What the steps' times may differ with.
std::string variation_text(const StepPhases& phases, const std::vector<double>& lengths) {
  std::string text = "; waits " + ms(phases.load.times.least) + " to " + ms(phases.load.times.most) + ", training " +
                     ms(phases.training.times.least) + " to " + ms(phases.training.times.most);
  if (lengths.empty()) return text;
  const auto [least, most] = std::ranges::minmax(lengths);
  if (most <= kSameLength * least) return text + ", batches of one length";
  return text + ", batches of " + fixed_text(least, 0) + " to " + fixed_text(most, 0) + " frames";
}

std::string rules_text(const StepPhases& phases, const PhaseDevices& devices, const PhaseContext& context) {
  const auto rules = rules_that_hold(figures_of(phases, devices));
  if (rules.empty() && context.others.empty())
    return "✅ NO MAJOR BOTTLENECKS DETECTED\n   Training utilization: " + percent(phases.training.share) + "\n";
  if (rules.empty())
    return "No rule of the note holds, but the run was not alone: " + context.others +
           "   Training utilization: " + percent(phases.training.share) + "\n";
  std::string text = "BOTTLENECKS:\n";
  for (const NamedRule& rule : rules)
    text += "  " + std::string(rule.name) + ": " + percent(rule.figure) +
            (rule.figure > rule.bound ? ", more than " : ", less than ") + percent(rule.bound) +
            (rule.name == "OSCILLATION" ? variation_text(phases, context.lengths) : "") + "\n";
  return text;
}

}  // namespace

std::string phase_text(const StepPhases& phases, const PhaseDevices& devices, const PhaseContext& context) {
  std::string text = "TIMING BREAKDOWN:\n";
  for (const Phase* phase : {&phases.load, &phases.preprocess, &phases.transfer, &phases.training})
    text += phase_line(*phase, true);
  text += phase_line(phases.total, false);
  text += "  Gaps: data to training " + ms(phases.load.times.mean) +
          " a step; training to data none, for data is made ahead\n";
  text += "\nGPU UTILIZATION:\n" + load_line("Data GPU:", devices.data, devices.data_load) +
          load_line("Model GPU:", devices.model, devices.model_load) + memory_text(devices) + "\n" +
          rules_text(phases, devices, context);
  const auto both = two_devices(phases);
  return text + "All phases one after the other take at most " + ms(both.one) + " a step, at the same time at least " +
         ms(both.two) + ": a second device gains at most " + fixed_text(both.gain, 2) +
         "x, a bound, less where steps wait\n";
}

}  // namespace tutti
