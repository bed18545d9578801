#include "profile/comparison.h"

#include <algorithm>
#include <cmath>

#include "advise/recording.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "metrics/time_weighted.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kConfidence = 1.96;         // standard errors on either side: 95 of 100
constexpr std::size_t kFewestIntervals = 5;  // whose spread means anything
constexpr std::size_t kBlocks = 16;          // intervals beside one another are alike, so they are taken in blocks

/// Rates of equal parts of the run, from its timeline.
std::vector<double> block_rates(const std::vector<double>& at, const std::vector<double>& done) {
  std::vector<double> rates;
  const std::size_t blocks = std::min(kBlocks, at.size());
  double before_at = 0, before_done = 0;
  for (std::size_t block = 1; block <= blocks; ++block) {
    const std::size_t last = block * at.size() / blocks - 1;
    if (at[last] > before_at) rates.push_back((done[last] - before_done) / (at[last] - before_at));
    before_at = at[last];
    before_done = done[last];
  }
  return rates;
}

/// The standard error of the mean of the values.
double standard_error(const std::vector<double>& values) {
  if (values.size() < kFewestIntervals) return 0;
  TimeWeighted spread;
  for (const double value : values) spread.add(value, 1);
  return spread.deviation() / std::sqrt(static_cast<double>(values.size() - 1));
}

/// The stage whose time the comparison is about.
std::string compared_stage(const Json& profile) {
  std::string busiest;
  double most = -1;
  for (const Json& stage : profile.at("stages")) {
    if (stage.value("resource", "") == "device") return stage.at("name");
    if (stage.value("busy", 0.0) > most) most = stage.value("busy", 0.0), busiest = stage.at("name");
  }
  return profile.at("limit").is_object() ? profile.at("limit").at("stage").get<std::string>() : busiest;
}

std::optional<ComparedRun::Utilisation> utilisation_of(const Json& profile, const Json& timeline) {
  const std::string name = compared_stage(profile);
  for (const Json& stage : timeline.at("stages")) {
    if (stage.at("name") != name) continue;
    TimeWeighted busy;
    double before = 0;
    for (std::size_t i = 0; i < stage.at("busy").size(); ++i) {
      const double at = timeline.at("at").at(i);
      busy.add(stage.at("busy").at(i), at - before);
      before = at;
    }
    if (busy.is_empty()) return std::nullopt;
    return ComparedRun::Utilisation{name, busy.mean(), busy.least(), busy.most(), busy.variance(), is_bursty(busy)};
  }
  return std::nullopt;
}

ComparedRun run_of(const Json& profile) {
  ComparedRun run{.unit = profile.value("unit", "items"), .rate = profile.at("items_per_s")};
  const auto timeline = profile.find("timeline");
  if (timeline == profile.end()) return run;
  run.error = standard_error(block_rates(timeline->at("at"), timeline->at("done")));
  run.utilisation = utilisation_of(profile, *timeline);
  return run;
}

/// How much faster the second run is, as a share, and what 95 of 100 pairs would show, each run being as far from
/// another one of the same work as two runs are.
struct RateChange {
  double share = 0, low = 0, high = 0;
  bool has_range = false;
  bool is_certain = false;
};

RateChange change_between(const ComparedRun& before, const ComparedRun& after) {
  if (before.rate <= 0) return {};
  RateChange change{.share = after.rate / before.rate - 1};
  change.has_range = before.error > 0 && after.error > 0;
  if (!change.has_range) return change;
  // The relative errors of a quotient add up as squares.
  const double relative = std::hypot(before.error / before.rate, after.rate > 0 ? after.error / after.rate : 0);
  const double margin = (kConfidence * relative + kOtherRun) * (1 + change.share);
  change.low = change.share - margin;
  change.high = change.share + margin;
  change.is_certain = change.low > 0 || change.high < 0;
  return change;
}

std::string signed_percent(double share) {
  return (share >= 0 ? "+" : "") + fixed_text(100 * share, 1) + " %";
}

std::string sentence_of(const ComparedRun& before, const ComparedRun& after, const RateChange& change) {
  const std::string times = signed_percent(change.share) + " " + before.unit + " a second";
  if (!change.has_range)
    return after.name + " against " + before.name + ": " + times +
           "; how sure that is is not known, because a run had too few intervals.";
  const std::string range = signed_percent(change.low) + " to " + signed_percent(change.high);
  if (!change.is_certain)
    return "No difference is certain: " + times + ", and 95 of 100 such pairs would show " + range + ".";
  return after.name + " is " + (change.share > 0 ? "faster" : "slower") + " than " + before.name + ": " + times + ", " +
         range + " in 95 of 100 such pairs.";
}

Json json_of(const ComparedRun& run) {
  Json json{{"file", run.name}, {"unit", run.unit}, {"items_per_s", run.rate}, {"standard_error", run.error}};
  if (const auto& it = run.utilisation)
    json["utilisation"] = {{"stage", it->stage}, {"mean", it->mean},         {"min", it->least},
                           {"max", it->most},    {"variance", it->variance}, {"bursty", it->is_bursty}};
  return json;
}

}  // namespace

Result<ComparedRun> read_profile(const std::filesystem::path& file) {
  const auto text = TRY(read_file(file));
  const auto lines = split(text, '\n');
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (!lines[i].starts_with("{")) continue;
    try {
      const auto profile = Json::parse(std::string(lines[i]));
      if (!profile.contains("items_per_s"))
        return fail(Fault::corrupt,
                    file.string() + ": expected what 'tutti profile --json' prints, found JSON without 'items_per_s'");
      ComparedRun run = run_of(profile);
      run.name = file.filename().string();
      return run;
    } catch (const Json::exception& error) {
      return fail(Fault::corrupt,
                  file.string() + ": expected what 'tutti profile --json' prints, found: " + error.what());
    }
  }
  return fail(Fault::corrupt, file.string() + ": expected a line of JSON, found none",
              "Write one with 'tutti profile --json -- tutti ... 2> " + file.filename().string() + "'");
}

std::string comparison_text(const ComparedRun& before, const ComparedRun& after) {
  TextTable table{.columns = {{"", false, 0, true}, {before.name, true}, {after.name, true}}};
  const auto row = [&](const std::string& name, const auto& show) {
    table.rows.push_back({name, show(before), show(after)});
  };
  row(before.unit + " a second", [](const ComparedRun& run) { return short_number(run.rate); });
  const auto utilisation = [&](const std::string& name, const auto& show) {
    if (!before.utilisation && !after.utilisation) return;  // of pipelines, and of runs too short for intervals
    row(name, [&](const ComparedRun& run) { return run.utilisation ? show(*run.utilisation) : std::string("?"); });
  };
  using Utilisation = ComparedRun::Utilisation;
  utilisation("busy: stage", [](const Utilisation& it) { return it.stage; });
  utilisation("  mean", [](const Utilisation& it) { return fixed_text(100 * it.mean, 1) + " %"; });
  utilisation("  min", [](const Utilisation& it) { return fixed_text(100 * it.least, 1) + " %"; });
  utilisation("  max", [](const Utilisation& it) { return fixed_text(100 * it.most, 1) + " %"; });
  utilisation("  variance", [](const Utilisation& it) { return fixed_text(it.variance, 4); });
  utilisation("  bursty", [](const Utilisation& it) { return std::string(it.is_bursty ? "yes" : "no"); });
  return joined(lay_out(table, 120), "\n") + "\n\n" + sentence_of(before, after, change_between(before, after)) + "\n";
}

std::string comparison_json(const ComparedRun& before, const ComparedRun& after) {
  const RateChange change = change_between(before, after);
  Json json{{"before", json_of(before)}, {"after", json_of(after)}, {"change", change.share}};
  if (change.has_range) {
    json["low"] = change.low;
    json["high"] = change.high;
  }
  json["is_certain"] = change.is_certain;
  return json_line(json);
}

}  // namespace tutti
