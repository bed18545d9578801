#include "profile/experiment.h"

#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kWidth = 120;
constexpr double kManyStalls = 0.2;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

/// "+38 %".
std::string gain_text(double rate, double before) {
  const double percent = 100 * (rate / before - 1);
  return (percent < -0.5 ? "" : "+") + fixed_text(std::abs(percent) < 0.5 ? 0 : percent, 0) + " %";
}

}  // namespace

std::string experiments_text(const Experiments& experiments) {
  TextTable table{.columns = {{"twice as fast", false, 0, true},
                              {"predicted", true},
                              {"from", true},
                              {"to", true},
                              {"measured", true},
                              {experiments.unit + "/s", true}}};
  const auto gain = [&](double rate) { return gain_text(rate, experiments.rate); };
  for (const StageExperiment& it : experiments.stages)
    table.rows.push_back({without_controls(it.stage), it.predicted ? gain(it.predicted->items_per_s) : "",
                          it.predicted ? gain(it.predicted->low) : "", it.predicted ? gain(it.predicted->high) : "",
                          gain(it.measured), short_number(it.measured)});
  return "\nEach stage twice as fast, by experiment: while it worked, all others were held back by half of that time, "
         "which\nis left out of the rate.\n\n" +
         joined(lay_out(table, kWidth), "\n") + "\n" +
         (experiments.cpu_stall < kManyStalls
              ? ""
              : "Programs waited for a processor " + fixed_text(100 * experiments.cpu_stall, 0) +
                    " % of the time, which counts as work: gains may come out too large\n");
}

nlohmann::ordered_json experiments_json(const Experiments& experiments) {
  auto all = nlohmann::ordered_json::array();
  const auto gain = [&](double rate) { return rounded(rate / experiments.rate - 1); };
  for (const StageExperiment& it : experiments.stages) {
    nlohmann::ordered_json json{
        {"stage", it.stage}, {"measured_items_per_s", rounded(it.measured)}, {"measured_gain", gain(it.measured)}};
    if (it.predicted)
      json.update({{"predicted_items_per_s", rounded(it.predicted->items_per_s)},
                   {"low", rounded(it.predicted->low)},
                   {"high", rounded(it.predicted->high)},
                   {"predicted_gain", gain(it.predicted->items_per_s)}});
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace tutti
