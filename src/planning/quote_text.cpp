#include <algorithm>
#include <array>
#include <cstdio>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "planning/policy_table.h"
#include "planning/quote.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string padded(const std::string& text, std::size_t columns) {
  return " " + std::string(columns > columns_of(text) ? columns - columns_of(text) : 0, ' ') + text;
}

std::string heading(const PlanTarget& target) {
  return target.id + (target.memory ? ", " + gigabytes_text(*target.memory) : "");
}

std::string type_text(const std::string& requested) {
  if (requested == "default") return "the device's usual type";
  return requested == "auto" ? "the largest type that a self-test may choose" : requested;
}

/// Whether models differ in what they take of this machine's memory: on GPUs alone they do not.
bool differs_in_memory(const Quote& quote) {
  return std::ranges::any_of(quote.rows, [&](const Quote::Row& row) {
    return row.host.together().value != quote.chosen.host.together().value;
  });
}

std::string row_text(const Quote::Row& row, const std::vector<PlanTarget>& targets, bool with_memory) {
  std::string text = "  " + fitted(row.model, 10) + padded(megabytes_text(row.on[0].weights), 10) +
                     padded(megabytes_text(row.on[0].window), 12);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto fits = row.on[i].fits;
    const auto width = std::max<std::size_t>(16, columns_of(heading(targets[i])));
    text += padded(fits < 1 ? "does not fit" : std::to_string(fits) + (fits == 1 ? " window" : " windows"), width + 1);
  }
  return text + (with_memory ? padded(megabytes_text(row.host.together()), 12) : "") + "\n";
}

std::string times_text(const Quote& quote) {
  if (quote.question.jobs.empty())
    return "How long a batch takes: give " + field("durations") + " FILE, the lengths of its recordings.\n";
  if (!quote.time && quote.command.empty()) return {};
  if (!quote.time)
    return "How long it takes is not known: give the speed of each device, " + field("gpus") +
           " 12GB:30x (tutti bench measures "
           "it); after a batch it is remembered.\n";
  const TimeQuote& time = *quote.time;
  std::array<char, 300> text{};
  std::snprintf(
      text.data(), text.size(),
      "Expected: %zu recordings, %s of audio, in %s; four times out of five between %s and %s.\nNobody can be "
      "faster than %s: this is %.1f %% of it.\n",
      quote.question.jobs.size(), length_text(time.audio).c_str(), length_text(time.expected).c_str(),
      length_text(time.least).c_str(), length_text(time.most).c_str(), length_text(time.lower_bound).c_str(),
      100 * (time.lower_bound / time.expected));
  return text.data() + silence_text(time.speech) + "\n";
}

std::optional<double> per_audio_hour(const Quote& quote) {
  if (!quote.cost || quote.time->audio <= Seconds(0)) return {};
  return quote.cost->total / (quote.time->audio / Seconds(3600));
}

/// "1.50 per device hour"; "0.53 an hour of cuda:0, 0.20 of cpu".
std::string prices_text(const Quote& quote) {
  if (quote.price) return money_text(*quote.price) + " per device hour";
  std::string text;
  for (const auto& target : quote.question.targets)
    if (target.price)
      text +=
          (text.empty() ? "" : ", ") + money_text(*target.price) + (text.empty() ? " an hour of " : " of ") + target.id;
  return text;
}

std::string costs_text(const Quote& quote) {
  std::string text;
  if (quote.cost) text += "Expected cost: " + money_text(quote.cost->total) + ", at " + prices_text(quote);
  if (const auto hour = per_audio_hour(quote)) text += "; " + money_text(*hour) + " per hour of audio";
  if (quote.cost && quote.cost->total > 0)
    text += "; " + percent(quote.cost->idle / quote.cost->total) + " of it for idle devices";
  if (quote.cost) text += ".\n";
  if (quote.energy_joules) text += "Expected energy: " + energy_text(*quote.energy_joules) + ".\n";
  return text;
}

/// A note where a speed is another compute type's than the requested one.
std::string speeds_text(const Quote& quote) {
  std::string text;
  for (const auto& target : quote.question.targets)
    if (!target.speed_type.empty() && target.speed_type != quote.question.compute_type)
      text +=
          "The speed of " + target.id + " was measured with " + field("compute_type") + " " + target.speed_type + ".\n";
  return text;
}

OrderedJson row_json(const Quote::Row& row, const std::vector<PlanTarget>& targets) {
  OrderedJson json{{"model", row.model}, {"host_bytes", row.host.together().value}, {"devices", OrderedJson::array()}};
  for (std::size_t i = 0; i < targets.size(); ++i)
    json["devices"].push_back({{"id", targets[i].id},
                               {"weights_bytes", row.on[i].weights.value},
                               {"window_bytes", row.on[i].window.value},
                               {"windows_that_fit", row.on[i].fits},
                               {"windows_in_flight", row.on[i].in_flight}});
  return json;
}

}  // namespace

std::string Quote::text() const {
  std::string text = "What fits, in " + type_text(question.compute_type) + " with " + std::to_string(question.beams) +
                     (question.beams == 1 ? " sequence" : " beams") +
                     " a window. Files share the model; a window is 30 s of one of them.\n\n  " + fitted("model", 10) +
                     padded("weights", 10) + padded("per window", 12);
  for (const auto& target : question.targets)
    text += padded(heading(target), std::max<std::size_t>(17, columns_of(heading(target)) + 1));
  const bool with_memory = differs_in_memory(*this);
  text += (with_memory ? padded("RAM", 12) : "") + "\n";
  for (const auto& row : rows) text += row_text(row, question.targets, with_memory);
  text += "\nThis machine's memory: " + gigabytes_text(question.ram) + " to use; " +
          (with_memory ? question.model : "each of these models") + " on all devices takes " +
          gigabytes_text(chosen.host.together()) + " of it.\n";
  for (const auto& problem : problems) text += "But " + problem + ".\n";
  if (!command.empty()) text += "Recommended: " + command + "\n";
  return text + times_text(*this) + (time ? speeds_text(*this) : "") + costs_text(*this);
}

std::string Quote::json() const {
  OrderedJson out{
      {"compute_type", question.compute_type}, {"beams", question.beams}, {"ram_bytes", question.ram.value}};
  out["devices"] = OrderedJson::array();
  for (const auto& target : question.targets) {
    OrderedJson device{{"id", target.id}, {"name", target.name}};
    if (target.memory) device["memory_bytes"] = target.memory->value;
    if (target.price) device["price_per_hour"] = *target.price;
    if (target.speed) device["speed_x"] = *target.speed;
    if (!target.speed_type.empty()) device["speed_compute_type"] = target.speed_type;
    out["devices"].push_back(std::move(device));
  }
  out["chosen"] = row_json(chosen, question.targets);
  for (const auto& row : rows) out["models"].push_back(row_json(row, question.targets));
  out["problems"] = problems;
  if (!command.empty()) out["recommended"] = command;
  if (time)
    out["time"] = {{"expected_s", time->expected.count()},
                   {"least_s", time->least.count()},
                   {"most_s", time->most.count()},
                   {"lower_bound_s", time->lower_bound.count()},
                   {"audio_s", time->audio.count()}};
  if (time && time->speech) out["time"]["speech_share"] = *time->speech;
  if (question.unknown_lengths > 0) out["recordings_of_unknown_length"] = question.unknown_lengths;
  if (cost) {
    out["cost"] = cost->total;
    out["idle_cost"] = cost->idle;
    if (price) out["price_per_device_hour"] = *price;
    if (const auto hour = per_audio_hour(*this)) out["cost_per_audio_hour"] = *hour;
  }
  if (energy_joules) out["energy_joules"] = *energy_joules;
  return json_line(out);
}

}  // namespace tutti
