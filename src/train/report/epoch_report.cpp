#include "train/report/epoch_report.h"

#include <algorithm>

#include "advise/spread.h"
#include "base/field_names.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "profile/recorded_run.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

constexpr double kWorthReporting = 0.05;  // share of the time spent waiting

std::string milliseconds(double seconds) {
  return fixed_text(1e3 * seconds, 1) + " ms";
}

std::string line_of(const PhaseTimes& times) {
  return "  " + times.name + ": busy " + percent(times.share(times.busy)) + ", starved " +
         percent(times.share(times.waiting)) + ", blocked " + percent(times.share(times.blocked));
}

double busy_share(const StageReport& stage) {
  const PhaseTimes times = times_of(stage);
  return times.share(times.busy);
}

/// The stage whose threads are busy most of their time: no other can make the feed faster.
const StageReport* busiest(const FeedReport& feed) {
  const auto& stages = feed.stages.stages;
  const auto most = std::ranges::max_element(stages, {}, busy_share);
  return most == stages.end() ? nullptr : &*most;
}

/// What is slow to come over a network comes no later where more of it is waited for at once; and where steps `waited`
/// for it mostly while later batches were whole, these may come first.
std::string way_out_of(const FeedReport& feed, const std::string& stage, double waited) {
  if (feed.held_up.count() > waited / 2)
    return "; slow files held up batches that were whole, and " + field("order") + " any lets these come first";
  return stage == "read" ? "; more read-threads wait for more files at once" : "";
}

/// "padding 47 %, ": of none, nothing.
std::string padding_text(const FrameCounts& frames) {
  if (frames.computed == 0) return "";
  const auto text = "padding " + percent(frames.padding_share()) + ", ";
  if (frames.filled_up == 0) return text;
  return text + percent(frames.needed_share()) + " but for batches filled up to the window on purpose, ";
}

std::vector<std::string> feed_lines(const FeedReport& feed) {
  std::vector<std::string> lines;
  for (const auto& stage : feed.stages.stages)
    if (stage.times.lived().count() > 0) lines.push_back(line_of(times_of(stage)));
  if (lines.empty()) lines.emplace_back("  the feed had made all of its batches before");
  return lines;
}

const RecordedStage* stage_named(const RunRecording& recording, const std::string& name) {
  const auto found = std::ranges::find(recording.stages, name, &RecordedStage::name);
  return found == recording.stages.end() ? nullptr : &*found;
}

/// The first change of the feed that a flag makes.
const Fix* fix_of_feed(const RunRecording& recording, const std::optional<Diagnosis>& found) {
  if (!found) return nullptr;
  const auto fix =
      std::ranges::find_if(found->fixes, [&](const Fix& it) { return !flags_of(recording, it.changes[0]).empty(); });
  return fix == found->fixes.end() ? nullptr : &*fix;
}

std::string feed_line(const EpochUse& epoch, const RunRecording& recording, const std::optional<Diagnosis>& found) {
  std::string line = "The feed limits: steps wait for it " + percent(epoch.use.waiting) + " of the time";
  const Fix* fix = fix_of_feed(recording, found);
  if (!fix)
    return line + (found ? ", and its stage '" + found->limit.stage + "' is the slowest" : "") +
           "; without waits training is " + percent(gain_without_waits(epoch.use)) + " faster at most";
  const Change& change = fix->changes[0];
  line += ", and more threads make its stage '" + change.stage + "' faster";
  if (const auto* stage = stage_named(recording, change.stage))
    line += " (current: " + std::to_string(stage->threads) + ")";
  return line + ". " + joined(flags_of(recording, change), " ") + " is predicted to gain " +
         percent(fix->items_per_s / found->items_per_s - 1);
}

std::string batch_line(const EpochUse& epoch, const std::string& why) {
  return "Increase batch_size (current: " + fixed_text(epoch.batch, 0) + "): " + why + ". " +
         fixed_text(2 * epoch.batch, 0) + " is predicted to gain " + percent(gain_of_double_batch(epoch.use)) +
         " samples a second";
}

std::string cause_line(const EpochUse& epoch, const RunRecording& recording, const std::optional<Diagnosis>& found) {
  switch (cause_of(epoch.use)) {
    case LowUse::feed: return feed_line(epoch, recording, found);
    case LowUse::launch:
      return batch_line(epoch,
                        "the processor takes longer to launch a step's work than the device to do it; it is at it " +
                            percent(epoch.use.host) + " of the steps' time");
    case LowUse::batch: break;
  }
  return batch_line(epoch, "a step's work is too small for the device, which idles between its parts");
}

constexpr Seconds kSlow{0.030};   // mean wait
constexpr Seconds kSpike{0.050};  // length of one wait
constexpr double kManySpikes = 0.05;

std::string note_ms(Seconds time) {
  return fixed_text(1000 * time.count(), 1) + "ms";
}

}  // namespace

std::vector<std::string> epoch_report(const std::optional<FeedReport>& feed, const RingReport& ring,
                                      const StepTimes& times, const FrameCounts& frames) {
  std::vector<std::string> lines = feed ? feed_lines(*feed) : std::vector<std::string>();
  const std::string behind = ring.behind > 0 ? " and " + std::to_string(ring.behind) + " more in the feed" : "";
  lines.push_back("  ring of " + std::to_string(ring.depth) + behind + ": steps took " + percent(ring.utilisation()) +
                  " of the time; waits p50 " + milliseconds(ring.waits.percentile(0.5)) + ", p99 " +
                  milliseconds(ring.waits.percentile(0.99)) + ", longest " + milliseconds(ring.waits.max) +
                  "; above 50 ms: " + std::to_string(ring.spikes) + " of " + std::to_string(ring.batches) +
                  (ring.batches == 1 ? " batch" : " batches"));
  const double elapsed = (ring.stepping + ring.waiting).count();
  const double making = elapsed > 0 ? (ring.fetching + ring.transferring).count() / elapsed : 0;
  if (!feed && making > kWorthReporting)  // the device of the data, where it is cores of its own
    lines.push_back("  the next batches were made meanwhile, in " + percent(std::min(making, 1.0)) + " of the time");
  if (feed)
    lines.push_back("  " + padding_text(frames) + "unusable samples so far " + std::to_string(feed->bad_samples));
  const double whole = times.stepping + times.waiting;
  const double own = std::min(times.waiting, ring.waiting.count());
  const auto is_worth_reporting = [whole](double waited) { return whole > 0 && waited / whole > kWorthReporting; };
  const std::string waited = "  training waited ";
  const auto* limiting = feed ? busiest(*feed) : nullptr;
  if (is_worth_reporting(own) && limiting)
    lines.push_back(waited + percent(own / whole) + " of its time for the feed; its stage '" + limiting->name +
                    "' limits it" + way_out_of(*feed, limiting->name, own));
  if (const double others = times.waiting - own; is_worth_reporting(others))
    lines.push_back(waited + percent(others / whole) + " of its time for the feeds of other processes");
  return lines;
}

std::vector<std::string> low_use_warning(const EpochUse& epoch, const RunRecording& recording,
                                         const std::optional<Diagnosis>& found) {
  if (epoch.use.busy >= kLowUse) return {};
  return {"⚠️  LOW GPU UTILIZATION (" + fixed_text(100 * epoch.use.busy, 1) + "%)! Possible bottlenecks:",
          "   - " + cause_line(epoch, recording, found),
          "   - The device is " + epoch.device + "; the share is weighted by time over the epoch"};
}

std::string loader_line(const std::vector<Seconds>& waits) {
  if (waits.empty()) return {};
  const Spread spread = spread_of(waits);
  const auto steps = static_cast<double>(waits.size());
  const auto spikes = std::ranges::count_if(waits, [](Seconds wait) { return wait > kSpike; });
  std::string line = "[TRAIN PROFILE] DataLoader avg: " + note_ms(spread.mean) + ", max: " + note_ms(spread.most) +
                     ", median: " + note_ms(spread.p50) + ", min: " + note_ms(spread.least) +
                     "; above 50 ms: " + std::to_string(spikes) + " of " + std::to_string(waits.size());
  if (spikes > 0) line += ", every " + fixed_text(steps / static_cast<double>(spikes), 0) + " steps";
  if (spread.mean > kSlow) line += "; slow: the mean is above 30 ms";
  if (static_cast<double>(spikes) > kManySpikes * steps) line += "; uneven: more than 5 % of the steps waited long";
  return line;
}

}  // namespace tutti
