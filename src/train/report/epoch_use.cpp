#include "train/report/epoch_use.h"

#include <algorithm>

#include "advise/spread.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "profile/recorded_run.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

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

constexpr Seconds kSlow{0.030};   // of a mean
constexpr Seconds kSpike{0.050};  // of one wait
constexpr double kManySpikes = 0.05;

std::string ms(Seconds time) {
  return fixed_text(1000 * time.count(), 1) + "ms";
}

}  // namespace

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
  std::string line = "[TRAIN PROFILE] DataLoader avg: " + ms(spread.mean) + ", max: " + ms(spread.most) +
                     ", median: " + ms(spread.p50) + ", min: " + ms(spread.least) +
                     "; above 50 ms: " + std::to_string(spikes) + " of " + std::to_string(waits.size());
  if (spikes > 0) line += ", every " + fixed_text(steps / static_cast<double>(spikes), 0) + " steps";
  if (spread.mean > kSlow) line += "; slow: the mean is above 30 ms";
  if (static_cast<double>(spikes) > kManySpikes * steps) line += "; uneven: more than 5 % of the steps waited long";
  return line;
}

}  // namespace tutti
