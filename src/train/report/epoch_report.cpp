#include "train/report/epoch_report.h"

#include <algorithm>

#include "base/numbers.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

constexpr double kWorthReporting = 0.05;  // of the time, spent waiting

std::string milliseconds(double seconds) {
  return fixed_text(1e3 * seconds, 1) + " ms";
}

double share_of(std::chrono::nanoseconds part, const StageTimes& times) {
  const auto lived = times.lived().count();
  return lived > 0 ? static_cast<double>(part.count()) / static_cast<double>(lived) : 0;
}

std::string line_of(const StageReport& stage) {
  const auto& times = stage.times;
  return "  " + stage.name + ": busy " + percent(share_of(times.busy, times)) + ", starved " +
         percent(share_of(times.starved, times)) + ", blocked " + percent(share_of(times.blocked, times));
}

/// The stage whose threads are busy most of their time: no other can make the feed faster.
const StageReport* busiest(const FeedReport& feed) {
  const auto& stages = feed.stages.stages;
  const auto most = std::ranges::max_element(
      stages, {}, [](const StageReport& stage) { return share_of(stage.times.busy, stage.times); });
  return most == stages.end() ? nullptr : &*most;
}

/// What is slow to come over a network comes no later where more of it is waited for at once.
std::string way_out_of(const std::string& stage) {
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
    if (stage.times.lived().count() > 0) lines.push_back(line_of(stage));
  if (lines.empty()) lines.emplace_back("  the feed had made all of its batches before");
  return lines;
}

}  // namespace

std::vector<std::string> epoch_report(const std::optional<FeedReport>& feed, const RingReport& ring,
                                      const StepTimes& times, const FrameCounts& frames) {
  std::vector<std::string> lines = feed ? feed_lines(*feed) : std::vector<std::string>();
  lines.push_back("  ring of " + std::to_string(ring.depth) + ": steps took " + percent(ring.utilisation()) +
                  " of the time; waits p50 " + milliseconds(ring.waits.percentile(0.5)) + ", p99 " +
                  milliseconds(ring.waits.percentile(0.99)) + ", longest " + milliseconds(ring.waits.max) +
                  "; above 50 ms: " + std::to_string(ring.spikes) + " of " + std::to_string(ring.batches));
  if (feed)
    lines.push_back("  " + padding_text(frames) + "unusable samples so far " + std::to_string(feed->bad_samples));
  const double whole = times.stepping + times.waiting;
  const double own = std::min(times.waiting, ring.waiting.count());
  const auto is_worth_reporting = [whole](double waited) { return whole > 0 && waited / whole > kWorthReporting; };
  const std::string waited = "  training waited ";
  const auto* limiting = feed ? busiest(*feed) : nullptr;
  if (is_worth_reporting(own) && limiting)
    lines.push_back(waited + percent(own / whole) + " of its time for the feed; its stage '" + limiting->name +
                    "' limits it" + way_out_of(limiting->name));
  if (const double others = times.waiting - own; is_worth_reporting(others))
    lines.push_back(waited + percent(others / whole) + " of its time for the feeds of other processes");
  return lines;
}

}  // namespace tutti
