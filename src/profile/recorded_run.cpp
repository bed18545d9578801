#include "profile/recorded_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 150;
constexpr double kUneven = 0.3;  // std over mean
constexpr double kStall = 10;    // times the median

/// The service times of a stage's items, in milliseconds.
struct Spread {
  double mean = 0, deviation = 0, p50 = 0, p95 = 0, least = 0, most = 0, sum = 0;
  std::size_t stalls = 0;
};

Spread spread_of(const RecordedStage& stage) {
  std::vector<double> ms;
  for (const Seconds item : stage.items) ms.push_back(1000 * item.count());
  std::ranges::sort(ms);
  const auto at = [&](double share) {
    return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1) + 0.5)];
  };
  Spread spread{.p50 = at(0.5), .p95 = at(0.95), .least = ms.front(), .most = ms.back()};
  spread.sum = std::accumulate(ms.begin(), ms.end(), 0.0);
  spread.mean = spread.sum / static_cast<double>(ms.size());
  double squares = 0;
  for (const double it : ms) squares += (it - spread.mean) * (it - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(ms.size()));
  spread.stalls =
      static_cast<std::size_t>(std::ranges::count_if(ms, [&](double it) { return it > kStall * spread.p50; }));
  return spread;
}

struct Shares {
  double busy = 0, starved = 0, blocked = 0;
};

Shares shares_of(const RecordedStage& stage) {
  const Seconds all = stage.busy + stage.starved + stage.blocked;
  if (all.count() <= 0) return {};
  return {stage.busy / all, stage.starved / all, stage.blocked / all};
}

std::string percent(double share) {
  return fixed_text(100 * share, 1) + " %";
}

std::string table_of(const RunRecording& recording) {
  TextTable table{.columns = {{"stage", false, 0, true},
                              {"resource"},
                              {"threads", true},
                              {"busy", true},
                              {"starved", true},
                              {"blocked", true},
                              {"avg ± std ms", true},
                              {"p50", true},
                              {"p95", true},
                              {"min", true},
                              {"max", true},
                              {"variation", true},
                              {"stalls", true},
                              {"share", true}}};
  std::vector<Spread> spreads;
  for (const RecordedStage& stage : recording.stages) spreads.push_back(spread_of(stage));
  const double all =
      std::accumulate(spreads.begin(), spreads.end(), 0.0, [](double sum, const Spread& it) { return sum + it.sum; });
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const RecordedStage& stage = recording.stages[s];
    const Spread& spread = spreads[s];
    const Shares shares = shares_of(stage);
    table.rows.push_back({stage.name, std::string(name_of(stage.resource)), std::to_string(stage.threads),
                          percent(shares.busy), percent(shares.starved), percent(shares.blocked),
                          short_number(spread.mean) + " ± " + short_number(spread.deviation), short_number(spread.p50),
                          short_number(spread.p95), short_number(spread.least), short_number(spread.most),
                          fixed_text(spread.mean > 0 ? spread.deviation / spread.mean : 0, 2),
                          std::to_string(spread.stalls), percent(all > 0 ? spread.sum / all : 0)});
  }
  return joined(lay_out(table, kWidth), "\n") + "\n";
}

std::string what_to_do(const RunRecording& recording, const Fix& fix) {
  const Change& change = fix.changes.front();
  const auto flags = flags_of(recording, change);
  if (!flags.empty()) return joined(flags, " ");
  return change.stage + " twice as fast";
}

std::string gain_of(const Fix& fix, double now) {
  return fixed_text(100 * (fix.items_per_s / now - 1), 0) + " %";
}

std::string limit_text(const Bottleneck& limit) {
  return limit.stage + " (" + std::string(name_of(limit.resource)) + ") limits the run and costs " +
         percent(limit.share) + " of its time";
}

}  // namespace

std::vector<std::string> flags_of(const RunRecording& recording, const Change& change) {
  for (const RecordedStage& stage : recording.stages)
    if (stage.name == change.stage && change.key == "threads" && !stage.threads_flag.empty())
      return {stage.threads_flag, std::to_string(static_cast<long long>(change.value))};
  return {};
}

Result<Change> parse_flag_change(const std::string& text, const RunRecording& recording) {
  std::string wanted = text;
  const std::string in_front = recording.command + ".";
  if (wanted.starts_with(in_front) && std::ranges::count(wanted.substr(0, wanted.find('=')), '.') > 1)
    wanted = wanted.substr(in_front.size());
  const auto change = parse_change(wanted, model_of(recording));
  if (!change) return change;
  if (flags_of(recording, *change).empty())
    return fail(Fault::usage, "'" + text + "': no flag of 'tutti " + recording.command + "' sets that");
  return change;
}

std::string profile_text(const RunRecording& recording, const std::optional<Diagnosis>& found) {
  const std::size_t items = recording.stages.front().items.size();
  std::string text = std::to_string(items) + " " + recording.unit + " in " + fixed_text(recording.elapsed.count(), 2) +
                     " s, " + short_number(rate_of(recording)) + " a second, on " + std::to_string(recording.cores) +
                     (recording.cores == 1 ? " core\n" : " cores\n") + table_of(recording);
  text += "\n" + finding_sentence(recording, found) + "\n";
  if (!found) return text;
  for (const Fix& fix : found->fixes)
    text += "  " + what_to_do(recording, fix) + ": " + short_number(fix.items_per_s) + " " + recording.unit +
            " a second (" + short_number(fix.low) + " to " + short_number(fix.high) + "), +" +
            gain_of(fix, found->items_per_s) + "\n";
  for (const RecordedStage& stage : recording.stages) {
    const Spread spread = spread_of(stage);
    if (stage.name == found->limit.stage && spread.mean > 0 && spread.deviation / spread.mean > kUneven)
      text += "  The items of " + stage.name + " are uneven (variation " +
              fixed_text(spread.deviation / spread.mean, 2) + "): a longer run predicts better\n";
  }
  return text;
}

std::string profile_json(const RunRecording& recording, const std::optional<Diagnosis>& found) {
  Json json{{"command", recording.command},
            {"unit", recording.unit},
            {"items", recording.stages.front().items.size()},
            {"elapsed", recording.elapsed.count()},
            {"items_per_s", rate_of(recording)},
            {"limit", nullptr},
            {"model_error", model_error(recording)},
            {"explained", found.has_value()},
            {"stages", Json::array()},
            {"fixes", Json::array()}};
  for (const RecordedStage& stage : recording.stages) {
    const Spread spread = spread_of(stage);
    const Shares shares = shares_of(stage);
    json["stages"].push_back({{"name", stage.name},
                              {"resource", name_of(stage.resource)},
                              {"threads", stage.threads},
                              {"busy", shares.busy},
                              {"starved", shares.starved},
                              {"blocked", shares.blocked},
                              {"mean_ms", spread.mean},
                              {"std_ms", spread.deviation},
                              {"p50_ms", spread.p50},
                              {"p95_ms", spread.p95},
                              {"min_ms", spread.least},
                              {"max_ms", spread.most},
                              {"stalls", spread.stalls}});
  }
  if (!found) return json_line(json);
  json["limit"] = {
      {"stage", found->limit.stage}, {"resource", name_of(found->limit.resource)}, {"share", found->limit.share}};
  for (const Fix& fix : found->fixes)
    json["fixes"].push_back({{"change", fix.changes.front().text()},
                             {"flags", flags_of(recording, fix.changes.front())},
                             {"predicted_items_per_s", fix.items_per_s},
                             {"low", fix.low},
                             {"high", fix.high}});
  return json_line(json);
}

std::string finding_sentence(const RunRecording& recording, const std::optional<Diagnosis>& found) {
  if (!found)
    return "What limits the run is not known: the replay of its items is " + percent(model_error(recording)) +
           " from the measured rate, more than 5 %, so nothing is predicted.";
  const std::string limit = limit_text(found->limit);
  if (found->fixes.empty()) return limit + "; no single change would gain 2 %.";
  const Fix& fix = found->fixes.front();
  return limit + "; " + what_to_do(recording, fix) + " would gain " + gain_of(fix, found->items_per_s) + ".";
}

}  // namespace tutti
