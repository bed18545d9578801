#include "planning/batch/report_json.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "advise/lost_time.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "planning/cost/run_bill.h"
#include "profile/pipeline_tuner.h"
#include "text/json_bytes.h"
#include "transcribe/pool/pool_machine.h"
#include "view/fleet/run_report.h"
#include "view/text.h"

namespace tutti {
namespace {

using OrderedJson = nlohmann::ordered_json;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

/// What a recording cost, at the prices of the devices that did it; none where one of them has no price.
std::optional<double> asset_cost(const BatchAsset& asset, const HourlyPrices& prices) {
  if (asset.busy_on.empty()) return {};
  double cost = 0;
  for (const auto& [device, busy] : asset.busy_on) {
    const auto price = prices.find(device);
    if (price == prices.end()) return {};
    cost += usd_of(price->second, busy);
  }
  return cost;
}

/// What the device cost, and which part of it went into waiting for what.
void add_cost(OrderedJson& json, const BilledDevice& device, Seconds elapsed) {
  if (!device.usd_hour) return;
  const BillParts parts = parts_of(device, elapsed);
  json["price_per_hour"] = *device.usd_hour;
  json["cost"] = rounded(parts.total());
  json["idle_cost"] = rounded(parts.idle);
}

/// What all devices cost and for what; parts add up to `cost`.
void add_bill(OrderedJson& json, const RunBill& bill) {
  const auto parts = bill.parts();
  if (!parts) return;
  json["cost"] = rounded(parts->total());
  json["bill"] = {{"recordings", rounded(parts->recordings)},
                  {"other_work", rounded(parts->other)},
                  {"idle", rounded(parts->idle)}};
  const auto& first = bill.devices.front().usd_hour;
  if (std::ranges::all_of(bill.devices, [&](const auto& device) { return device.usd_hour == first; }))
    json["price_per_device_hour"] = *first;
  if (bill.audio > Seconds(0))
    json["cost_per_audio_hour"] = rounded(parts->total() / (bill.audio / std::chrono::hours(1)));
}

OrderedJson device_json(const PooledDeviceView& device, const BatchReport& report, const BilledDevice& billed) {
  OrderedJson idle = OrderedJson::object();
  for (const auto& [reason, time] : device.idle.by_name()) idle[reason] = rounded(time.count());
  OrderedJson json{{"id", device.id},
                   {"name", device.name},
                   {"state", device.state},
                   {"busy_share", report.elapsed > Seconds(0) ? rounded(device.busy / report.elapsed) : 0.0},
                   {"audio_seconds", rounded(device.audio_done.count())},
                   {"restarts", device.restarts},
                   {"idle", std::move(idle)}};
  if (const auto speed = measured_speed(device_time(device))) json["speed"] = rounded(*speed);
  if (device.rated) json["rated_speed"] = rounded(*device.rated);
  json["recordings_seconds"] = rounded(billed.in_recordings.count());
  add_cost(json, billed, report.elapsed);
  if (const auto& loss = device.memory_loss)
    json["out_of_memory"] = {{"times", loss->times},
                             {"windows", loss->all},
                             {"least_windows", loss->least},
                             {"windows_at_end", loss->now.value_or(loss->all)}};
  const auto drawn = report.device_joules.find(device.id);
  if (drawn != report.device_joules.end()) json["energy_joules"] = rounded(drawn->second);
  return json;
}

/// The fields of a recording's list entry beside what Tutti knows. A name of the report's own stays the report's, also
/// where its value is empty.
void add_extra(OrderedJson& json, const std::string& extra) {
  const OrderedJson fields = OrderedJson::parse(extra, nullptr, false);
  if (!fields.is_object()) return;
  for (const auto& [name, value] : fields.items())
    if (name != "speed" && name != "cost" && name != "tries" && name != "losses" && name != "kept_files" &&
        name != "audio_notes" && name != "without_speech" && name != "replacements" && !json.contains(name))
      json[name] = value;
}

/// How each attempt ended, where, and why.
OrderedJson tries_json(const std::vector<Attempt>& tries) {
  OrderedJson all = OrderedJson::array();
  for (const Attempt& each : tries) {
    OrderedJson& json = all.emplace_back(OrderedJson{{"device", each.device}, {"end", name_of(each.end)}});
    if (!each.failure.empty()) json["class"] = each.failure;
    if (!each.error.empty()) json["error"] = each.error;
  }
  return all;
}

/// The field note's fields, and what Tutti knows beside them. Speed and cost are of this run: of the device time that
/// the recording took.
OrderedJson asset_json(const BatchAsset& asset, const HourlyPrices& prices) {
  OrderedJson json{{"uuid", asset.uuid},
                   {"name", asset.name},
                   {"status", asset.status},
                   {"error", asset.error},
                   {"device", asset.device},
                   {"attempts", asset.attempts},
                   {"audio_seconds", rounded(asset.audio.count())}};
  if (asset.busy && *asset.busy > Seconds(0)) {
    json["speed"] = rounded(asset.requested / *asset.busy);
    if (const auto cost = asset_cost(asset, prices)) json["cost"] = rounded(*cost);
  }
  if (!asset.losses.empty()) json["losses"] = asset.losses;
  for (const KeptFile& kept : asset.kept_files)
    json["kept_files"].push_back({{"path", kept.path}, {"new_text", kept.new_text}});
  if (!asset.notes.empty()) json["audio_notes"] = asset.notes;
  if (asset.without_speech) json["without_speech"] = true;
  if (asset.replacements > 0) json["replacements"] = asset.replacements;
  if (!asset.tries.empty()) json["tries"] = tries_json(asset.tries);
  add_extra(json, asset.extra);
  return json;
}

OrderedJson quote_json(const BatchQuote& quote) {
  OrderedJson json{{"duration_seconds", rounded(quote.time.expected.count())},
                   {"least_seconds", rounded(quote.time.least.count())},
                   {"most_seconds", rounded(quote.time.most.count())},
                   {"audio_seconds", rounded(quote.time.audio.count())}};
  if (quote.time.speech) json["speech_share"] = rounded(*quote.time.speech);
  if (quote.cost) json["cost"] = rounded(quote.cost->total);
  if (quote.energy_joules) json["energy_joules"] = rounded(*quote.energy_joules);
  return json;
}

RunNumbers numbers_of(const BatchReport& report, const HourlyPrices& prices) {
  RunNumbers numbers{.elapsed = report.elapsed,
                     .done = report.done_now,
                     .copied = report.copied,
                     .failed = report.counts.failed - report.before.failed,
                     .has_retried = report.has_retried,
                     .cancelled = report.counts.cancelled - report.before.cancelled,
                     .audio = report.audio,
                     .longest = report.longest,
                     .shared_files = report.shared_files,
                     .policy = report.policy,
                     .stopped = report.interrupted || !report.ended_early.empty(),
                     .energy_joules = report.energy_joules};
  if (const auto bill = bill_of(report, prices).parts()) {
    numbers.cost = bill->total();
    numbers.idle_cost = bill->idle;
  }
  for (const auto& device : report.pool.devices) numbers.devices.push_back(device_time(device));
  return numbers;
}

/// What others had ended: earlier runs, and those that worked beside this one.
std::string before_text(const BatchReport& report) {
  const BatchCounts& before = report.before;
  if (report.counts.total > 0 && before.done == report.counts.total)
    return (before.done == 1 ? std::string("The recording was")
                             : "All " + std::to_string(before.done) + " recordings were") +
           " done before this run: nothing was left to do.\n";
  std::string out;
  const auto add = [&out](const char* what, std::size_t count, const std::string& wherefore) {
    if (count > 0) out += what + std::to_string(count) + wherefore;
  };
  const std::string again = "; " + field("retry_failed") + " does them again.\n";
  add("Done before this run: ", before.done, ".\n");
  add("Done by another run meanwhile: ", report.counts.done - report.done_now - before.done, ".\n");
  add("Failed in an earlier run and left alone: ", before.failed, again);
  add("Cancelled in an earlier run and left alone: ", before.cancelled, again);
  return out;
}

/// The line about recordings that were transcribed as far as they could be read.
std::string damaged_text(const BatchReport& report) {
  const auto damaged = std::ranges::count_if(report.assets, [](const BatchAsset& it) { return !it.losses.empty(); });
  if (damaged == 0) return {};
  return "Truncated or damaged: " + std::to_string(damaged) + ". What they lack is in the warnings above, and in the " +
         field("report") + " as losses.\n";
}

/// The lines about devices that were given fewer windows at once because their memory did not hold them.
std::string memory_text(const BatchReport& report) {
  std::string out;
  for (const auto& device : report.pool.devices)
    if (const auto& loss = device.memory_loss)
      out += "Out of memory on " + device.id + ": " + std::to_string(loss->times) +
             (loss->times == 1 ? " time" : " times") + "; of " + std::to_string(loss->all) +
             " windows at once it was given as few as " + std::to_string(loss->least) + ", and " +
             std::to_string(loss->now.value_or(loss->all)) + " at the end.\n";
  return out;
}

std::vector<KeptFile> kept_files(const BatchReport& report) {
  std::vector<KeptFile> all;
  for (const BatchAsset& asset : report.assets) all.insert(all.end(), asset.kept_files.begin(), asset.kept_files.end());
  return all;
}

/// The user's files that no output has replaced.
std::string kept_files_text(const BatchReport& report) {
  constexpr std::size_t kListed = 10;
  const auto kept = kept_files(report);
  if (kept.empty()) return {};
  std::string out = "Kept files, which this store did not write or which were edited: " + std::to_string(kept.size()) +
                    ". The new texts are beside them; " + field("overwrite") + " replaces them.\n";
  for (std::size_t i = 0; i < std::min(kListed, kept.size()); ++i)
    out += "  " + without_controls(kept[i].path) + " -> " + without_controls(kept[i].new_text) + "\n";
  if (kept.size() > kListed)
    out += "  and " + std::to_string(kept.size() - kListed) + " more, in the " + field("report") + " as kept_files\n";
  return out;
}

/// The line about recordings whose transcripts are empty: they count as done, and would go unnoticed.
std::string without_speech_text(const BatchReport& report) {
  if (report.without_speech == 0) return {};
  return "Without speech: " + std::to_string(report.without_speech) + ". Their transcripts are empty; the " +
         field("report") + " names them as without_speech.\n";
}

/// The lines about what followed the transcripts: texts written otherwise, and commands for finished recordings.
std::string results_text(const BatchReport& report) {
  std::string out;
  if (report.replacements > 0)
    out += "Replaced by " + field("replace") + ": " + std::to_string(report.replacements) +
           (report.replacements == 1 ? " text.\n" : " texts.\n");
  if (report.summary.failed_commands > 0)
    out += "Commands of " + field("on_done") + " that failed: " + std::to_string(report.summary.failed_commands) +
           ". The outputs are in place.\n";
  return out;
}

OrderedJson runner_json(const OtherRunner& runner) {
  OrderedJson json{{"runner", runner.name},
                   {"state", name_of(runner.state)},
                   {"joined_seconds", rounded(runner.joined.count())},
                   {"present_seconds", rounded(runner.present.count())},
                   {"audio_seconds", rounded(runner.audio.count())}};
  if (runner.silent) json["silent_seconds"] = rounded(runner.silent->count());
  json["devices"] = OrderedJson::array();
  for (const DeviceStatus& device : runner.devices) {
    OrderedJson& one = json["devices"].emplace_back(
        OrderedJson{{"id", device.id}, {"name", device.name}, {"audio_seconds", rounded(device.audio_done.count())}});
    if (device.speed) one["speed"] = rounded(*device.speed);
  }
  return json;
}

/// The other runners of a store that machines share, with what each came to.
std::string runners_text(const BatchReport& report) {
  constexpr std::size_t kListed = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(kListed, report.runners.size()); ++i) {
    const OtherRunner& runner = report.runners[i];
    out += "Runner " + without_controls(runner.name) + ": " + length_text(runner.audio) + " of audio in " +
           length_text(runner.present);
    if (runner.joined > Seconds(1)) out += ", from " + length_text(runner.joined) + " on";
    if (runner.silent) out += "; lost " + length_text(*runner.silent) + " ago, and others did its jobs";
    out += ".\n";
  }
  if (report.runners.size() > kListed)
    out += "And " + std::to_string(report.runners.size() - kListed) + " more, in the " + field("report") +
           " as other_runners.\n";
  return out;
}

/// What the inputs name that is no recording, by reason; null: nothing.
OrderedJson left_out_json(const InputTally& inputs) {
  const std::pair<const char*, std::int64_t> reasons[] = {{"not_audio_by_name", inputs.folders.other_names},
                                                          {"hidden", inputs.folders.hidden},
                                                          {"pipes_sockets_devices", inputs.folders.special},
                                                          {"other_asset_type", inputs.other_type},
                                                          {"excluded_folder", inputs.excluded},
                                                          {"deleted", inputs.deleted},
                                                          {"unusable", inputs.unusable}};
  OrderedJson json;
  for (const auto& [reason, count] : reasons)
    if (count > 0) json[reason] = count;
  if (!inputs.folders.other_endings.empty()) json["not_audio_by_ending"] = inputs.folders.other_endings;
  return json;
}

std::string written(const OrderedJson& json) {
  return json_keeping_bytes(json, 1);
}

/// An object's text with its last field, "assets", behind the others. One after the other: as a tree an archive's
/// hundred thousand would take several times the memory of their text.
std::string with_assets(std::string object, const std::vector<BatchAsset>& assets, const HourlyPrices& prices) {
  object.erase(object.rfind('\n'));  // and its brace
  object += ",\n \"assets\": [";
  for (const BatchAsset& asset : assets) {
    object += &asset == &assets.front() ? "\n  " : ",\n  ";
    for (const char c : written(asset_json(asset, prices))) {
      object += c;
      if (c == '\n') object += "  ";  // only between fields: within a text it is escaped
    }
  }
  object += assets.empty() ? "]\n}\n" : "\n ]\n}\n";
  return object;
}

}  // namespace

std::string batch_report_json(const BatchReport& report, const HourlyPrices& prices,
                              const std::optional<BatchQuote>& quote, const InputTally& inputs) {
  OrderedJson json{{"format", kBatchReportMark},
                   {"total", report.counts.total},
                   {"successful", report.counts.done},
                   {"failed", report.counts.failed},
                   {"cancelled", report.counts.cancelled},
                   {"done_in_this_run", report.done_now},
                   {"copied_in_this_run", report.copied},
                   {"kept_files", kept_files(report).size()},
                   {"without_speech_in_this_run", report.without_speech},
                   {"start_time", utc_text(report.started)},
                   {"end_time", utc_text(report.ended)},
                   {"duration_seconds", rounded(report.elapsed.count())},
                   {"audio_seconds", rounded(report.audio.count())}};
  if (report.replacements > 0) json["replacements_in_this_run"] = report.replacements;
  if (report.summary.failed_commands > 0) json["failed_commands"] = report.summary.failed_commands;
  if (!report.engine.empty()) json["engine"] = report.engine;
  if (OrderedJson left_out = left_out_json(inputs); !left_out.is_null()) json["left_out"] = std::move(left_out);
  if (report.time != 1) json["time_scale"] = report.time;
  if (const auto least = lower_bound(numbers_of(report, prices))) json["lower_bound_seconds"] = rounded(least->count());
  const RunBill bill = bill_of(report, prices);
  add_bill(json, bill);
  if (report.energy_joules) json["energy_joules"] = rounded(*report.energy_joules);
  if (quote) json["quoted"] = quote_json(*quote);
  if (!report.ended_early.empty()) json["ended_early"] = report.ended_early;
  json["interrupted"] = report.interrupted;
  if (const auto finding = finding_of(numbers_of(report, prices)); !finding.empty()) json["finding"] = finding;
  if (report.summary.tuning) json["tuning"] = tuning_json(*report.summary.tuning);
  json["devices"] = OrderedJson::array();
  for (std::size_t i = 0; i < bill.devices.size(); ++i)
    json["devices"].push_back(device_json(report.pool.devices[i], report, bill.devices[i]));
  for (const OtherRunner& runner : report.runners) json["other_runners"].push_back(runner_json(runner));
  return with_assets(written(json), report.assets, prices);
}

std::string batch_report_text(const BatchReport& report, const HourlyPrices& prices,
                              const std::optional<BatchQuote>& quote) {
  if (report.counts.total > 0 && report.before.ended() == report.counts.total) return before_text(report);
  std::string out;
  const RunNumbers numbers = numbers_of(report, prices);
  RunQuote quoted;
  if (quote) quoted = {.time = quote->time.expected, .energy_joules = quote->energy_joules};
  if (quote && quote->cost) quoted.cost = quote->cost->total;
  for (const auto& line : run_report(numbers, quoted)) out += line + "\n";
  if (!report.engine.empty()) out += "Engine: " + report.engine + ".\n";
  out += before_text(report);
  out += damaged_text(report) + without_speech_text(report) + results_text(report);
  out += memory_text(report) + runners_text(report);
  out += kept_files_text(report);
  if (report.time != 1)
    out += "All times are those of the emulated cards, whose seconds take " + short_number(report.time) + " s.\n";
  if (const auto finding = finding_of(numbers); !finding.empty()) out += finding + "\n";
  if (report.summary.tuning)
    if (const auto tuned = tuning_sentence(*report.summary.tuning); !tuned.empty()) out += tuned + "\n";
  return out;
}

}  // namespace tutti
