#include "profile/described_run.h"

#include <cmath>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "profile/timeline.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 120;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

double milliseconds(Seconds time) {
  return rounded(1000 * time.count());
}

std::string percent(double share) {
  return fixed_text(100 * share, 1) + " %";
}

Json json_of(const Fix& fix) {
  return {{"predicted_items_per_s", rounded(fix.items_per_s)}, {"low", rounded(fix.low)}, {"high", rounded(fix.high)}};
}

Json json_of(const Bottleneck& limit) {
  Json json{{"stage", limit.stage}, {"resource", name_of(limit.resource)}, {"share", rounded(limit.share)}};
  if (limit.close) json["close"] = *limit.close;
  return json;
}

Json fixes_json(const std::vector<Fix>& fixes) {
  Json all = Json::array();
  for (const Fix& fix : fixes) {
    Json json{{"change", fix.changes.front().text()}};
    json.update(json_of(fix));
    all.push_back(std::move(json));
  }
  return all;
}

Json together_json(const std::vector<Fix>& fixes) {
  Json all = Json::array();
  for (const Fix& fix : fixes) {
    Json json{{"changes", Json::array()}};
    for (const Change& change : fix.changes) json["changes"].push_back(change.text());
    json.update(json_of(fix));
    all.push_back(std::move(json));
  }
  return all;
}

Json stages_json(const DescribedRun& run) {
  Json all = Json::array();
  for (std::size_t s = 0; s < run.figures.stages.size(); ++s) {
    const StageFigures& stage = run.figures.stages[s];
    all.push_back({{"name", run.pipeline.stages[s].name},
                   {"busy", rounded(stage.shares.busy)},
                   {"starved", rounded(stage.shares.starved)},
                   {"blocked", rounded(stage.shares.blocked)},
                   {"core_wait", rounded(stage.shares.core_wait)},
                   {"mean_ms", milliseconds(stage.mean)},
                   {"p95_ms", milliseconds(stage.p95)}});
  }
  return all;
}

std::string table_of(const DescribedRun& run) {
  TextTable table{.columns = {{"stage", false, 0, true},
                              {"resource"},
                              {"threads", true},
                              {"queue", true},
                              {"busy", true},
                              {"starved", true},
                              {"blocked", true},
                              {"mean ms", true},
                              {"p95 ms", true}}};
  for (std::size_t s = 0; s < run.figures.stages.size(); ++s) {
    const StageModel& stage = run.pipeline.stages[s];
    const StageFigures& figures = run.figures.stages[s];
    table.rows.push_back({without_controls(stage.name), std::string(name_of(stage.resource)),
                          std::to_string(stage.threads), std::to_string(stage.queue), percent(figures.shares.busy),
                          percent(figures.shares.starved), percent(figures.shares.blocked),
                          short_number(milliseconds(figures.mean)), short_number(milliseconds(figures.p95))});
  }
  return joined(lay_out(table, kWidth), "\n") + "\n";
}

std::string line_of(const Fix& fix, double now) {
  const auto flags =
      joined(fix.changes, " ", [](const Change& change) { return field("apply") + " " + change.text(); });
  return "  " + fitted(flags, std::max<std::size_t>(40, columns_of(flags))) + "  " + short_number(fix.items_per_s) +
         " items/s, " + short_number(fix.low) + " to " + short_number(fix.high) + " (+" +
         fixed_text(100 * (fix.items_per_s / now - 1), 0) + " %)\n";
}

std::string limit_text(const Bottleneck& limit) {
  const std::string close = limit.close ? without_controls(*limit.close) : "";
  const std::string stage = without_controls(limit.stage);
  if (limit.share < kLeastGain)
    return "No stage limits by itself: none gains 2 % by being twice as fast" +
           (close.empty() ? "." : ", neither " + stage + " nor " + close + ".");
  return stage + " (" + std::string(name_of(limit.resource)) + ") costs " + percent(limit.share) +
         " of the time: that is what making it twice as fast saves." +
         (close.empty() ? "" : " " + close + " costs nearly as much.");
}

std::string finding_of(const Diagnosis& found) {
  std::string text =
      "\n" + std::string(found.limit.share < kLeastGain ? "" : "Bottleneck: ") + limit_text(found.limit) + "\n";
  if (found.fixes.empty() && found.together.empty()) return text + "No single change gains 2 % or more.\n";
  text += found.fixes.empty() ? "No single change gains 2 % or more.\n" : "Changes that gain, each by itself:\n";
  for (const Fix& fix : found.fixes) text += line_of(fix, found.items_per_s);
  if (!found.together.empty()) text += "Together:\n";
  for (const Fix& fix : found.together) text += line_of(fix, found.items_per_s);
  return text;
}

}  // namespace

std::string json_of(const DescribedRun& run) {
  Json json{{"items_per_s", rounded(run.figures.items_per_s)},
            {"limit", nullptr},
            {"model_error", rounded(run.model_error)},
            {"explained", run.diagnosis.has_value()},
            {"stages", stages_json(run)},
            {"fixes", Json::array()},
            {"together", Json::array()}};
  if (run.diagnosis) {
    json["limit"] = json_of(run.diagnosis->limit);
    json["fixes"] = fixes_json(run.diagnosis->fixes);
    json["together"] = together_json(run.diagnosis->together);
  }
  if (!run.experiments.stages.empty()) json["experiments"] = experiments_json(run.experiments);
  return json_line(json);
}

std::string text_of(const DescribedRun& run) {
  const std::string text = short_number(run.figures.items_per_s) + " items/s\n\n" + table_of(run);
  const std::string experiments = run.experiments.stages.empty() ? "" : experiments_text(run.experiments);
  if (run.diagnosis) return text + finding_of(*run.diagnosis) + experiments;
  return text + "\nThe description does not explain this run: it is " + percent(run.model_error) +
         " off, more than 5 %. So nothing is predicted.\nCompare the stages' mean times with the description.\n" +
         experiments;
}

ProfilePage page_of(const DescribedRun& run, const std::string& title) {
  ProfilePage page{.title = title, .rate = run.figures.items_per_s, .timeline = run.timeline};
  const auto& found = run.diagnosis;
  page.finding = found ? limit_text(found->limit)
                       : "The description does not explain this run: it is " + percent(run.model_error) +
                             " off, more than 5 %. So nothing is predicted.";
  for (std::size_t s = 0; s < run.figures.stages.size(); ++s) {
    const StageModel& stage = run.pipeline.stages[s];
    const StageFigures& figures = run.figures.stages[s];
    page.stages.push_back({.name = stage.name,
                           .resource = std::string(name_of(stage.resource)),
                           .threads = stage.threads,
                           .busy = figures.shares.busy,
                           .starved = figures.shares.starved,
                           .blocked = figures.shares.blocked,
                           .mean_ms = milliseconds(figures.mean),
                           .p95_ms = milliseconds(figures.p95),
                           .queue = s + 1 < run.figures.stages.size() ? stage.queue : 0,
                           .queue_fill = mean_fill(run.timeline, stage.name),
                           .is_limit = found && found->limit.stage == stage.name});
  }
  if (!found) return page;
  for (const auto* fixes : {&found->fixes, &found->together})
    for (const Fix& fix : *fixes)
      page.fixes.push_back(
          {joined(fix.changes, " ", [](const Change& change) { return field("apply") + " " + change.text(); }) +
               (fix.changes.size() > 1 ? " together" : ""),
           fix.items_per_s, fix.low, fix.high, fix.items_per_s / found->items_per_s - 1});
  return page;
}

}  // namespace tutti
