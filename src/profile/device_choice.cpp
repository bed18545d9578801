#include "profile/device_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kWorthADevice = 1.1;  // times as fast
constexpr std::size_t kFewestRounds = 3;
constexpr double kBeyond = 1.05;  // what a bound that is measured over some steps may be off by

/// Student's t for 95 of 100, by degrees of freedom from 1 on; the last also for more.
constexpr std::array<double, 8> kStudent{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31};

/// Whether a link of that name goes through a processor. PIX and PXB go through PCIe switches alone.
bool is_slow_link(const std::string& link) {
  return link == "PHB" || link == "NODE" || link == "SYS";
}

double mean_rate(const DeviceChoice& choice, double DeviceRound::*way) {
  double sum = 0;
  for (const DeviceRound& round : choice.rounds) sum += round.*way;
  return choice.rounds.empty() ? 0 : sum / static_cast<double>(choice.rounds.size());
}

std::string rate_text(const DeviceChoice& choice, double DeviceRound::*way) {
  return short_number(mean_rate(choice, way)) + " steps a second";
}

std::string gain_text(const MeasuredGain& gain) {
  return fixed_text(gain.gain, 2) + "x (" + fixed_text(gain.low, 2) + " to " + fixed_text(gain.high, 2) + ")";
}

bool has_none(const DeviceChoice& choice) {
  return std::ranges::all_of(choice.rounds, [](const DeviceRound& round) { return round.none > 0; });
}

/// Over the faster one of the other ways, which decides.
MeasuredGain gain_over_best(const DeviceChoice& choice) {
  const MeasuredGain one = choice.gain_over(&DeviceRound::one);
  if (!has_none(choice)) return one;
  const MeasuredGain none = choice.gain_over(&DeviceRound::none);
  return one.gain <= none.gain ? one : none;
}

std::string worth_text(const DeviceChoice& choice) {
  switch (choice.worth()) {
    case DeviceWorth::yes: return "The second device is worth it";
    case DeviceWorth::no: return "The second device is not worth it: it would do more with a training of its own";
    case DeviceWorth::not_known: break;
  }
  const MeasuredGain gain = gain_over_best(choice);
  return "Whether the second device is worth it is not decided: after " + std::to_string(choice.rounds.size()) +
         " rounds it gains " + fixed_text(gain.low, 2) + "x to " + fixed_text(gain.high, 2) + "x, and " +
         fixed_text(kWorthADevice, 2) + "x would be worth it. More " + field("num_steps") + " narrow that";
}

}  // namespace

MeasuredGain DeviceChoice::gain_over(double DeviceRound::*other) const {
  std::vector<double> logs;
  for (const DeviceRound& round : rounds)
    if (round.two > 0 && round.*other > 0) logs.push_back(std::log(round.two / round.*other));
  if (logs.empty()) return {.high = std::numeric_limits<double>::infinity()};
  const auto count = static_cast<double>(logs.size());
  double mean = 0, squares = 0;
  for (const double log : logs) mean += log / count;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  if (logs.size() < 2) return {.gain = std::exp(mean), .high = std::numeric_limits<double>::infinity()};
  const double margin =
      kStudent.at(std::min(logs.size() - 2, kStudent.size() - 1)) * std::sqrt(squares / (count - 1) / count);
  return {.gain = std::exp(mean), .low = std::exp(mean - margin), .high = std::exp(mean + margin)};
}

DeviceWorth DeviceChoice::worth() const {
  if (bound * kBeyond < kWorthADevice) return DeviceWorth::no;
  if (rounds.size() < kFewestRounds) return DeviceWorth::not_known;
  const MeasuredGain one = gain_over(&DeviceRound::one);
  const MeasuredGain none = has_none(*this) ? gain_over(&DeviceRound::none) : one;
  if (std::min(one.high, none.high) < kWorthADevice) return DeviceWorth::no;
  const bool is_plain = std::min({one.low, none.low, bound}) >= kWorthADevice;
  return is_plain ? DeviceWorth::yes : DeviceWorth::not_known;
}

std::string device_choice_text(const DeviceChoice& choice) {
  const MeasuredGain one = choice.gain_over(&DeviceRound::one);
  std::string text = "ONE OR TWO DEVICES, " + std::to_string(choice.rounds.size()) +
                     (choice.rounds.size() == 1 ? " round" : " rounds") + " of each in turn:\n  no data device: " +
                     (has_none(choice) ? rate_text(choice, &DeviceRound::none) : "this recipe needs one") + "\n  " +
                     choice.model + " alone: " + rate_text(choice, &DeviceRound::one) + "\n  " + choice.data +
                     " for the features, " + choice.model + " for the steps: " + rate_text(choice, &DeviceRound::two) +
                     ", " + gain_text(one) + " of " + choice.model + " alone" +
                     (has_none(choice) ? ", " + gain_text(choice.gain_over(&DeviceRound::none)) + " of no data device"
                                       : std::string()) +
                     "\n  By the phases of a step on one device at most " + fixed_text(choice.bound, 2) + "x" +
                     (one.low > kBeyond * choice.bound ? "; more than that: other load changed between the runs" : "") +
                     "\n  Copies: " + fixed_text(1000 * choice.copying.count(), 1) + " ms a step";
  if (choice.link)
    text +=
        ". Link between the two: " + *choice.link +
        (is_slow_link(*choice.link) ? ", a slow one: GPUs on one PCIe switch (PIX, PXB) copy faster" : ", a fast one");
  return text + "\n  " + worth_text(choice) + "\n";
}

std::string device_choice_json(const DeviceChoice& choice) {
  const MeasuredGain one = choice.gain_over(&DeviceRound::one), best = gain_over_best(choice);
  nlohmann::ordered_json devices{{"data", choice.data},
                                 {"model", choice.model},
                                 {"none_steps_per_s", mean_rate(choice, &DeviceRound::none)},
                                 {"one_steps_per_s", mean_rate(choice, &DeviceRound::one)},
                                 {"two_steps_per_s", mean_rate(choice, &DeviceRound::two)},
                                 {"gain", one.gain},
                                 {"low", best.low},
                                 {"high", nullptr},
                                 {"gain_over_none", choice.gain_over(&DeviceRound::none).gain},
                                 {"bound", choice.bound},
                                 {"rounds", choice.rounds.size()},
                                 {"copy_ms", 1000 * choice.copying.count()},
                                 {"link", nullptr},
                                 {"worth", choice.worth() == DeviceWorth::yes},
                                 {"decided", choice.worth() != DeviceWorth::not_known}};
  if (std::isfinite(best.high)) devices["high"] = best.high;
  if (choice.link) devices["link"] = *choice.link;
  return json_line(nlohmann::ordered_json{{"devices", std::move(devices)}});
}

}  // namespace tutti
