#include "profile/recorded_run.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "advise/spread.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "flow/virtual_clock.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 160;
constexpr double kUneven = 0.3;  // std over mean

double ms(Seconds time) {
  return 1000 * time.count();
}

Seconds sum_of(const RecordedStage& stage) {
  return std::accumulate(stage.items.begin(), stage.items.end(), Seconds(0));
}

struct Shares {
  double busy = 0, starved = 0, blocked = 0;
};

/// The time of the stage's threads over the whole run, also where they began late or ended early; of a device its own.
Seconds time_of(const RunRecording& recording, const RecordedStage& stage) {
  const Seconds threads =
      recording.elapsed * (stage.resource == StageResource::device ? 1 : std::max(1, stage.threads));
  return std::max(threads, sum_of(stage));
}

/// Shares of that time. What is neither work nor blocked counts as starved.
Shares shares_of(const RunRecording& recording, const RecordedStage& stage) {
  const Seconds all = time_of(recording, stage);
  if (all.count() <= 0) return {};
  Shares shares{.busy = std::min(1.0, sum_of(stage) / all)};
  shares.blocked = std::clamp(stage.times.blocked / all, 0.0, 1 - shares.busy);
  shares.starved = 1 - shares.busy - shares.blocked;
  return shares;
}

/// Between two items of a thread: it waits for one, or for space behind it.
double gap_ms(const RunRecording& recording, const RecordedStage& stage) {
  return ms(time_of(recording, stage) - sum_of(stage)) / static_cast<double>(stage.items.size());
}

/// The device's stage; null: there is none.
const RecordedStage* device_stage(const RunRecording& recording) {
  const auto found = std::ranges::find(recording.stages, StageResource::device, &RecordedStage::resource);
  return found == recording.stages.end() ? nullptr : &*found;
}

/// The share of the run in which the device worked on an item.
double device_busy(const RunRecording& recording) {
  const RecordedStage* stage = device_stage(recording);
  if (!stage || recording.elapsed.count() <= 0) return 0;
  return std::min(1.0, sum_of(*stage) / recording.elapsed);
}

/// "1 step", "2 steps".
std::string counted(std::size_t items, std::string unit) {
  if (items == 1 && unit.ends_with('s')) unit.resize(unit.size() - (unit.ends_with("ches") ? 2 : 1));
  return std::to_string(items) + " " + unit;
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
                              {"gap", true},
                              {"variation", true},
                              {"stalls", true},
                              {"share", true}}};
  Seconds all{};
  for (const RecordedStage& stage : recording.stages) all += sum_of(stage);
  for (const RecordedStage& stage : recording.stages) {
    const Spread spread = spread_of(stage.items);
    const Shares shares = shares_of(recording, stage);
    table.rows.push_back({stage.name, std::string(name_of(stage.resource)), std::to_string(stage.threads),
                          percent(shares.busy), percent(shares.starved), percent(shares.blocked),
                          short_number(ms(spread.mean)) + " ± " + short_number(ms(spread.deviation)),
                          short_number(ms(spread.p50)), short_number(ms(spread.p95)), short_number(ms(spread.least)),
                          short_number(ms(spread.most)), short_number(gap_ms(recording, stage)),
                          fixed_text(spread.variation(), 2), std::to_string(stalls_in(stage.items, spread)),
                          percent(all.count() > 0 ? sum_of(stage) / all : 0)});
  }
  return joined(lay_out(table, kWidth), "\n") + "\n";
}

/// With its stage in front: "read: --read-threads 6".
std::string what_to_do(const RunRecording& recording, const Change& change) {
  const auto flags = flags_of(recording, change);
  if (!flags.empty()) return change.stage + ": " + joined(flags, " ");
  const auto stage = std::ranges::find(recording.stages, change.stage, &RecordedStage::name);
  if (stage != recording.stages.end() && stage->resource == StageResource::device)
    return change.stage + ": a device twice as fast";
  return change.stage + ": twice as fast";
}

std::string what_to_do(const RunRecording& recording, const Fix& fix) {
  return joined(fix.changes, " and ", [&](const Change& change) { return what_to_do(recording, change); }) +
         (fix.changes.size() > 1 ? " together" : "");
}

std::string gain_of(const Fix& fix, double now) {
  return fixed_text(100 * (fix.items_per_s / now - 1), 0) + " %";
}

/// By what was measured of it, which may be one of the two alone.
std::string memory_text(const SideCause& cause) {
  const std::string swapped = fixed_text(cause.pages, 0) + " pages a second were swapped";
  if (cause.number <= 0) return swapped;
  const std::string waited = "Programs waited for memory " + percent(cause.number) + " of the time";
  return cause.pages > 0 ? waited + ", and " + swapped : waited;
}

std::string others_text(const SideCause& cause) {
  std::string text = "Other programs took " + fixed_text(cause.number, 1);
  if (cause.of > 0) text += " of " + fixed_text(cause.of, 0);
  text += " cores meanwhile";
  if (cause.of > 0) text += ", " + percent(std::min(1.0, cause.number / cause.of));
  if (cause.core_wait > 0)
    text += "; for them the run's threads had no core " + percent(cause.core_wait) +
            " of the time in which they could have run";
  return text;
}

std::string percent_more(double gain) {
  return fixed_text(100 * gain, 0) + " % faster";
}

/// What was measured, without a word on what to do.
std::string text_of(const SideCause& cause) {
  const std::string share = percent(cause.number);
  switch (cause.cause) {
    case Cause::other_processes: return others_text(cause);
    case Cause::cpu_quota:
      return "The control group's CPU quota held back " + fixed_text(cause.number, 2) + " cores on average";
    case Cause::memory_pressure: return memory_text(cause);
    case Cause::throttling: return "A heat or power limit slowed the hardware down " + share + " of the time";
    case Cause::too_many_threads:
      if (cause.core_wait > 0)
        return "The device's thread could run and had no core " + percent(cause.core_wait) +
               " of its time, as the run's other threads had them";
      return fixed_text(cause.number, 0) + " threads more than cores, which by replay gain nothing";
    case Cause::unequal_lengths:
      return "Unequal lengths at the end cost " + share + " of the time: with the longest first the run is predicted " +
             "to be " + percent_more(cause.gain);
    case Cause::slow_files:
      return "Steps waited for slow files " + share + " of the time while later batches were whole";
    default: break;
  }
  return std::string(name_of(cause.cause));
}

/// What to do about a cause that is no stage.
std::string advice_text(const SideCause& cause) {
  switch (cause.cause) {
    case Cause::other_processes:
      return "run it without those programs" +
             (cause.gain > 0 ? ", predicted to be " + percent_more(cause.gain) : std::string());
    case Cause::cpu_quota: return "a higher quota of the control group";
    case Cause::memory_pressure: return "more memory, or less beside the run";
    case Cause::throttling: return "better cooling, or a higher power limit";
    case Cause::unequal_lengths: return "the longest files first, predicted to be " + percent_more(cause.gain);
    case Cause::slow_files:
      return "read: " + field("order") + " any, predicted to be up to " + percent_more(cause.gain);
    default: break;
  }
  return "";
}

std::string limit_text(const Bottleneck& limit) {
  if (limit.share < kLeastGain) return "No stage limits the run by itself";
  return limit.stage + " (" + std::string(name_of(limit.resource)) + ") limits the run: twice as fast it would save " +
         percent(limit.share) + " of the time" + (limit.close ? ", " + *limit.close + " nearly as much" : "");
}

std::string lower_first(std::string text) {
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

/// Single changes first, then those that go together.
std::vector<Fix> all_fixes(const std::optional<Diagnosis>& found) {
  if (!found) return {};
  std::vector<Fix> fixes = found->fixes;
  fixes.insert(fixes.end(), found->together.begin(), found->together.end());
  return fixes;
}

std::string rate_text(const RunRecording& recording, const Fix& fix, double now) {
  return short_number(fix.items_per_s) + " " + recording.unit + " a second (" + short_number(fix.low) + " to " +
         short_number(fix.high) + "), +" + gain_of(fix, now);
}

/// One line; what other changes than the advised one would gain is what was predicted of them, and no more.
std::string others_predicted(const RunRecording& recording, const Diagnosis& found, const std::optional<Fix>& advice) {
  std::vector<std::string> parts;
  for (const Fix& fix : all_fixes(found))
    if (!advice || fix.changes != advice->changes)
      parts.push_back(what_to_do(recording, fix) + " +" + gain_of(fix, found.items_per_s));
  return parts.empty() ? "" : "  By replay, each in place of that: " + joined(parts, "; ") + "\n";
}

/// What makes the prediction a poor one: few items, or uneven ones. Empty: nothing does.
std::string sample_text(const RunRecording& recording, const Bottleneck& limit) {
  constexpr std::size_t kFew = 8;
  const std::size_t items = recording.stages.front().items.size();
  if (items < kFew) return "  So few " + recording.unit + " say little about others: a longer run predicts better\n";
  const auto stage = std::ranges::find(recording.stages, limit.stage, &RecordedStage::name);
  const double variation = stage == recording.stages.end() ? 0 : spread_of(stage->items).variation();
  if (variation <= kUneven) return {};
  return "  The items of " + stage->name + " are uneven (variation " + fixed_text(variation, 2) +
         "): a longer run predicts better\n";
}

/// What limits the run, without a full stop.
std::string limit_sentence(const RunRecording& recording, const std::optional<Diagnosis>& found,
                           const RunFinding& finding) {
  if (finding.beside) {
    std::string name(name_of(finding.cause));
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return name + " limit" + (name.ends_with('s') ? "" : "s") + " the run: " + lower_first(text_of(*finding.beside));
  }
  if (found) return limit_text(found->limit);
  return "What limits the run is not known: the replay of its items is " + percent(model_error(recording)) +
         " from the measured rate, more than 5 %, so nothing is predicted";
}

std::string advised(const RunRecording& recording, const std::optional<Diagnosis>& found, const RunFinding& finding) {
  if (finding.beside) return advice_text(*finding.beside);
  if (!found) return "none: nothing is predicted";
  if (!finding.advice) return "none: no single change would gain 2 %";
  return what_to_do(recording, *finding.advice) + ", predicted " +
         rate_text(recording, *finding.advice, found->items_per_s);
}

std::string settling_text(const RunRecording& recording) {
  if (recording.settling.items == 0) return {};
  return "  Before that, threads and queues had not settled: " + counted(recording.settling.items, recording.unit) +
         " in " + fixed_text(recording.settling.elapsed.count(), 2) + " s, which are not in these figures\n";
}

std::string measurements(const ProfiledRun& run, const RunFinding& finding) {
  std::string text;
  if (run.found && finding.beside) text += "  Beside that: " + lower_first(limit_text(run.found->limit)) + "\n";
  if (run.found) text += others_predicted(run.recording, *run.found, finding.advice);
  if (run.found) text += sample_text(run.recording, run.found->limit);
  for (const SideCause& cause : run.causes)
    if (cause.cause != Cause::other_processes && !(finding.beside && finding.cause == cause.cause))
      text += "  " + text_of(cause) + "\n";
  return text + settling_text(run.recording);
}

}  // namespace

std::string other_programs_text(const std::vector<SideCause>& causes) {
  const auto others = std::ranges::find(causes, Cause::other_processes, &SideCause::cause);
  return others == causes.end() ? std::string() : others_text(*others) + "\n";
}

std::vector<std::string> flags_of(const RunRecording& recording, const Change& change) {
  const auto stage = std::ranges::find(recording.stages, change.stage, &RecordedStage::name);
  if (stage == recording.stages.end()) return {};
  const std::string flag = change.key == "threads" ? stage->threads_flag
                           : change.key == "queue" ? stage->queue_flag
                                                   : std::string();
  if (flag.empty()) return {};
  return {flag, std::to_string(static_cast<long long>(change.value))};
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

std::string profile_text(const ProfiledRun& run) {
  const RunRecording& recording = run.recording;
  const auto& found = run.found;
  const std::size_t items = recording.stages.front().items.size();
  std::string text = counted(items, recording.unit) + " in " + fixed_text(recording.elapsed.count(), 2) + " s, " +
                     short_number(rate_of(recording)) + " a second, on " + std::to_string(recording.cores) +
                     (recording.cores == 1 ? " core\n" : " cores\n") + table_of(recording);
  if (const RecordedStage* device = device_stage(recording))
    text += "Device busy " + percent(device_busy(recording)) + " of the time (" + device->name + ")\n";
  const RunFinding finding = finding_of(recording, found, run.causes);
  text += "\n" + limit_sentence(recording, found, finding) + ".\nCause: " + std::string(name_of(finding.cause)) + "\n";
  text += "Advice: " + advised(recording, found, finding) + "\n";
  text += measurements(run, finding);
  return text;
}

namespace {

Json stages_json(const RunRecording& recording) {
  Json all = Json::array();
  for (const RecordedStage& stage : recording.stages) {
    const Spread spread = spread_of(stage.items);
    const Shares shares = shares_of(recording, stage);
    all.push_back({{"name", stage.name},
                   {"resource", name_of(stage.resource)},
                   {"threads", stage.threads},
                   {"busy", shares.busy},
                   {"starved", shares.starved},
                   {"blocked", shares.blocked},
                   {"mean_ms", ms(spread.mean)},
                   {"std_ms", ms(spread.deviation)},
                   {"p50_ms", ms(spread.p50)},
                   {"p95_ms", ms(spread.p95)},
                   {"min_ms", ms(spread.least)},
                   {"max_ms", ms(spread.most)},
                   {"gap_ms", gap_ms(recording, stage)},
                   {"stalls", stalls_in(stage.items, spread)}});
  }
  return all;
}

Json prediction_json(const Fix& fix) {
  return {{"predicted_items_per_s", fix.items_per_s}, {"low", fix.low}, {"high", fix.high}};
}

/// Null where nothing is advised.
Json advice_json(const ProfiledRun& run, const RunFinding& finding) {
  if (!finding.advice && !finding.beside) return nullptr;
  Json json{{"text", advised(run.recording, run.found, finding)}, {"stage", nullptr}, {"flags", Json::array()}};
  if (!finding.advice) return json;
  json["stage"] = finding.advice->changes.front().stage;
  for (const Change& change : finding.advice->changes)
    for (std::string& flag : flags_of(run.recording, change)) json["flags"].push_back(std::move(flag));
  json.update(prediction_json(*finding.advice));
  return json;
}

}  // namespace

std::string profile_json(const ProfiledRun& run) {
  const RunRecording& recording = run.recording;
  const RunFinding finding = finding_of(recording, run.found, run.causes);
  Json json{{"command", recording.command},
            {"unit", recording.unit},
            {"items", recording.stages.front().items.size()},
            {"elapsed", recording.elapsed.count()},
            {"items_per_s", rate_of(recording)},
            {"limit", nullptr},
            {"cause", name_of(finding.cause)},
            {"advice", advice_json(run, finding)},
            {"model_error", model_error(recording)},
            {"explained", run.found.has_value()},
            {"stages", stages_json(recording)},
            {"fixes", Json::array()},
            {"together", Json::array()},
            {"causes", Json::array()}};
  if (device_stage(recording)) json["device_busy"] = device_busy(recording);
  for (const SideCause& cause : run.causes) {
    json["causes"].push_back({{"cause", name_of(cause.cause)}, {"number", cause.number}, {"gain", cause.gain}});
    if (cause.core_wait > 0) json["causes"].back()["core_wait"] = cause.core_wait;
    if (cause.of > 0) json["causes"].back()["share"] = std::min(1.0, cause.number / cause.of);
    if (cause.cause == Cause::memory_pressure) json["causes"].back()["pages_a_second"] = cause.pages;
  }
  if (recording.settling.items > 0)
    json["settling"] = {{"seconds", recording.settling.elapsed.count()}, {"items", recording.settling.items}};
  if (recording.phases) json["phases"] = phases_json(*recording.phases);
  if (!recording.timeline.at.empty()) json["timeline"] = timeline_json(recording.timeline);
  if (!run.found) return json_line(json);
  const Bottleneck& limit = run.found->limit;
  json["limit"] = {{"stage", limit.stage}, {"resource", name_of(limit.resource)}, {"share", limit.share}};
  if (limit.close) json["limit"]["close"] = *limit.close;
  for (const Fix& fix : run.found->fixes) {
    Json one{{"change", fix.changes.front().text()}, {"flags", flags_of(recording, fix.changes.front())}};
    one.update(prediction_json(fix));
    json["fixes"].push_back(std::move(one));
  }
  for (const Fix& fix : run.found->together) {
    Json one{{"changes", Json::array()}, {"flags", Json::array()}};
    for (const Change& change : fix.changes) {
      one["changes"].push_back(change.text());
      for (std::string& flag : flags_of(recording, change)) one["flags"].push_back(std::move(flag));
    }
    one.update(prediction_json(fix));
    json["together"].push_back(std::move(one));
  }
  return json_line(json);
}

ProfilePage profile_page(const ProfiledRun& run, const std::string& title) {
  const RunRecording& recording = run.recording;
  ProfilePage page{.title = title,
                   .unit = recording.unit,
                   .rate = rate_of(recording),
                   .finding = finding_sentence(run),
                   .timeline = recording.timeline};
  for (std::size_t s = 0; s < recording.stages.size(); ++s) {
    const RecordedStage& stage = recording.stages[s];
    const Spread spread = spread_of(stage.items);
    const Shares shares = shares_of(recording, stage);
    page.stages.push_back({.name = stage.name,
                           .resource = std::string(name_of(stage.resource)),
                           .threads = stage.threads,
                           .busy = shares.busy,
                           .starved = shares.starved,
                           .blocked = shares.blocked,
                           .mean_ms = ms(spread.mean),
                           .p95_ms = ms(spread.p95),
                           .queue = s + 1 < recording.stages.size() ? stage.queue : 0,
                           .queue_fill = mean_fill(recording.timeline, stage.name),
                           .is_limit = run.found && run.found->limit.stage == stage.name});
  }
  for (const Fix& fix : all_fixes(run.found))
    page.fixes.push_back(
        {what_to_do(recording, fix), fix.items_per_s, fix.low, fix.high, fix.items_per_s / run.found->items_per_s - 1});
  for (const SideCause& cause : run.causes) page.notes.push_back(text_of(cause));
  return page;
}

std::string finding_sentence(const ProfiledRun& run) {
  const RunFinding finding = finding_of(run.recording, run.found, run.causes);
  const std::string limit = limit_sentence(run.recording, run.found, finding);
  if (finding.beside) return limit + ". Advice: " + advice_text(*finding.beside) + ".";
  if (!run.found) return limit + ".";
  if (!finding.advice) return limit + "; no single change would gain 2 %.";
  return limit + "; " + what_to_do(run.recording, *finding.advice) + " would gain " +
         gain_of(*finding.advice, run.found->items_per_s) + ".";
}

namespace {

/// By what the machine counted beside the run. An order by lengths is for `tutti profile`.
std::string brief_sentence(const RunRecording& recording, const MachineEvidence& machine) {
  if (!is_long_enough(recording)) return {};
  RunRecording excerpt = excerpt_of(recording);
  excerpt.lengths.clear();
  const ProfiledRun run{recording, diagnose_briefly(recording), side_causes(excerpt, machine)};
  const RunFinding finding = finding_of(run.recording, run.found, run.causes);
  const bool is_known = has_enough_items(recording);
  if (is_known && finding.beside && finding.cause == Cause::other_processes) return finding_sentence(run);
  std::string text = other_programs_text(run.causes);
  if (is_known && (run.found || finding.beside)) return text + finding_sentence(run);
  if (!text.empty()) text.pop_back();  // its line end
  return text;
}

}  // namespace

Result<std::string> conclude(const RunRecording& recording, const MachineEvidence& machine) {
  if (const auto file = recording_wanted()) {
    RunRecording corrected = recording;
    if (const VirtualSpeedup* speedup = VirtualSpeedup::of_process()) corrected.elapsed -= speedup->clock.delays();
    return write_recording(corrected, *file).map([] { return std::string(); });
  }
  return brief_sentence(recording, machine);
}

}  // namespace tutti
