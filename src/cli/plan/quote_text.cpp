#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "cli/plan/quote.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

std::string megabytes(Bytes bytes) {
  return std::to_string((bytes.value + 500'000) / 1'000'000) + " MB";
}

std::string padded(const std::string& text, std::size_t columns) {
  return " " + std::string(columns > columns_of(text) ? columns - columns_of(text) : 0, ' ') + text;
}

std::string heading(const PlanTarget& target) {
  return target.id + (target.memory ? ", " + gigabytes_text(*target.memory) : "");
}

std::string row_text(const Quote::Row& row, const std::vector<PlanTarget>& targets) {
  std::string text =
      "  " + fitted(row.model, 10) + padded(megabytes(row.on[0].weights), 10) + padded(megabytes(row.on[0].window), 12);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto fits = row.on[i].fits;
    const auto width = std::max<std::size_t>(16, columns_of(heading(targets[i])));
    text += padded(fits < 1 ? "does not fit" : std::to_string(fits) + (fits == 1 ? " window" : " windows"), width + 1);
  }
  return text + padded(megabytes(row.host.together()), 12) + "\n";
}

std::string times_text(const Quote& quote) {
  if (quote.question.tasks.empty())
    return "How long a batch takes: give --durations FILE, the lengths of its recordings.\n";
  if (!quote.time && quote.command.empty()) return {};
  if (!quote.time)
    return "How long it takes is not known: how fast a device is has to be told, --gpus 12GB:30x (tutti bench measures "
           "it); after a batch it is remembered.\n";
  const TimeQuote& time = *quote.time;
  std::array<char, 300> text{};
  std::snprintf(
      text.data(), text.size(),
      "Expected: %zu recordings, %s of audio, in %s; four times out of five between %s and %s.\nNobody can be "
      "faster than %s: this is %.1f %% of it.\n",
      quote.question.tasks.size(), length_text(time.audio).c_str(), length_text(time.expected).c_str(),
      length_text(time.least).c_str(), length_text(time.most).c_str(), length_text(time.lower_bound).c_str(),
      100 * (time.lower_bound / time.expected));
  return text.data();
}

Json row_json(const Quote::Row& row, const std::vector<PlanTarget>& targets) {
  Json json{{"model", row.model}, {"host_bytes", row.host.together().value}, {"devices", Json::array()}};
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
  const std::string type = question.compute_type == "default" ? "the device's usual type" : question.compute_type;
  std::string text = "What fits, in " + type + " with " + std::to_string(question.beams) +
                     (question.beams == 1 ? " sequence" : " beams") +
                     " a window. Files share the model; a window is 30 s of one of them.\n\n  " + fitted("model", 10) +
                     padded("weights", 10) + padded("per window", 12);
  for (const auto& target : question.targets)
    text += padded(heading(target), std::max<std::size_t>(17, columns_of(heading(target)) + 1));
  text += padded("RAM", 12) + "\n";
  for (const auto& row : rows) text += row_text(row, question.targets);
  text += "\nThis machine's memory: " + gigabytes_text(question.ram) + " to use; " + question.model +
          " on all devices takes " + gigabytes_text(chosen.host.together()) + " of it.\n";
  for (const auto& problem : problems) text += "But " + problem + ".\n";
  if (!command.empty()) text += "Recommended: " + command + "\n";
  return text + times_text(*this);
}

std::string Quote::json() const {
  Json out{{"compute_type", question.compute_type}, {"beams", question.beams}, {"ram_bytes", question.ram.value}};
  out["devices"] = Json::array();
  for (const auto& target : question.targets) {
    Json device{{"id", target.id}, {"name", target.name}};
    if (target.memory) device["memory_bytes"] = target.memory->value;
    if (target.speed) device["speed_x"] = *target.speed;
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
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tutti
