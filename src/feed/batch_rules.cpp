#include "feed/batch_rules.h"

#include <algorithm>

#include "audio/mel/log_mel.h"
#include "base/numbers.h"

namespace tutti {
namespace {

/// Batches begun before the oldest is done. Part of what a position means: another depth would put replacements of bad
/// samples elsewhere.
constexpr std::size_t kBatchesInWork = 4;

/// Every row is as long as the window, however much speech it holds: so many of them keep to the audio of a batch.
BatchRules rules_of_windows(const FeedOptions& options) {
  BatchRules rules{.most_samples = options.batch_size, .by_length = false};
  if (options.batch_audio > Seconds(0))
    rules.most_samples = std::clamp(static_cast<std::int64_t>(options.batch_audio / options.window), std::int64_t{1},
                                    rules.most_samples);
  return rules;
}

BatchRules rules_of(const FeedOptions& options) {
  if (options.padding == Padding::window) return rules_of_windows(options);
  const auto budget = static_cast<std::int64_t>(options.batch_audio.count() * kModelRate.value) / kHopSamples;
  return {.most_samples = options.batch_size, .most_frames = budget, .by_length = options.look_ahead > 1};
}

std::int64_t window_of(const FeedOptions& options) {
  return rules_of(options).by_length ? std::max(options.look_ahead, options.batch_size) : options.batch_size;
}

}  // namespace

Planner planner_for(const FeedOptions& options) {
  return {rules_of(options), window_of(options), kBatchesInWork};
}

std::int64_t frames_of_batch(const PlannedBatch& planned, const FeedOptions& options) {
  if (options.padding == Padding::window)
    return static_cast<std::int64_t>(options.window.count() * kModelRate.value) / kHopSamples;
  std::int64_t longest = 1;
  for (const PlannedSample& sample : planned.samples) longest = std::max<std::int64_t>(longest, sample.frames);
  return rounded_up(longest, options.frame_multiple);
}

}  // namespace tutti
